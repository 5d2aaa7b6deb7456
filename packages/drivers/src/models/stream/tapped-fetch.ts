import type { StreamListener } from '@inlay/agent'
import { isJsonObject, readJson } from '@inlay/protocol'
import { createChatTap, type Ahead } from './chat-tap.ts'
import { repairFields } from './chunk-repair.ts'
import type { BodySink, BodySource, Transport, TransportAnswer } from './transport.ts'

/** Bytes that wait for a slow reader; beyond them the sender waits. */
const waitingBytes = 65_536

/** A `fetch` over a transport, for requests with a body that is text or bytes. */
export function plainFetch(transport: Transport): typeof fetch {
  return (input, init) =>
    carry(transport, input, init, (answer) =>
      bodyOf(answer, (sink) => (isWhole(answer) ? converted(sink, sink, repairedAnswer) : sink)),
    )
}

/** Passes on the text of a streamed chat completion as its bytes arrive; the provider receives it merged. */
export function tappedFetch(
  transport: Transport,
  options: { readonly listener: StreamListener; readonly reasoningFields: readonly string[] },
): { readonly fetch: typeof fetch; readonly ahead: Ahead } {
  const ahead: Ahead = { text: 0, reasoning: 0 }
  const encoder = new TextEncoder()
  const tapped = (sink: BodySink, isStream: boolean): BodySink => {
    if (!isStream) return converted(tapped(sink, true), sink, wholeAnswerEvents)
    const tap = createChatTap({ ...options, ahead, emit: (text) => sink.push(encoder.encode(text)) })
    return {
      push: tap.push,
      end: () => {
        tap.end()
        sink.end()
      },
      // Withheld data is lost only to the provider: the listener received it.
      fail: sink.fail,
    }
  }
  return {
    ahead,
    fetch: (input, init) =>
      carry(transport, input, init, (answer) => {
        if (answer.status !== 200) return bodyOf(answer, (sink) => sink)
        return bodyOf(answer, (sink) => tapped(sink, !isWhole(answer)))
      }),
  }
}

const isWhole = ({ status, headers }: TransportAnswer): boolean =>
  status === 200 && headers.get('content-type')?.includes('application/json') === true

const isPrinted = (byte: number): boolean => byte > 32 && byte < 128

/** What is not converted goes to `plain`. Some gateways label a stream as JSON: its first character decides. */
function converted(stream: BodySink, plain: BodySink, convert: (answer: unknown) => string | undefined): BodySink {
  const decoder = new TextDecoder()
  let text = ''
  let first: number | undefined
  const isJson = (): boolean => first === undefined || first === 0x7b || first === 0x5b
  return {
    push: (bytes) => {
      first ??= bytes.find(isPrinted)
      if (isJson()) text += decoder.decode(bytes, { stream: true })
      else stream.push(bytes)
    },
    end: () => {
      if (!isJson()) return stream.end()
      const events = convert(readJson(text))
      const sink = events === undefined ? plain : stream
      sink.push(new TextEncoder().encode(events ?? text))
      sink.end()
    },
    fail: plain.fail,
  }
}

const repairedAnswer = (value: unknown): string | undefined =>
  isJsonObject(value) && Array.isArray(value['choices']) ? JSON.stringify(repairFields(value)) : undefined

/** Some gateways send a whole answer to a request for a stream: it becomes a stream with one chunk. */
function wholeAnswerEvents(value: unknown): string | undefined {
  const choice: unknown = isJsonObject(value) && Array.isArray(value['choices']) ? value['choices'][0] : undefined
  if (!isJsonObject(value) || !isJsonObject(choice) || !isJsonObject(choice['message'])) return undefined
  const { message, finish_reason: end } = choice
  const { tool_calls: calls, ...said } = message
  const delta = Array.isArray(calls)
    ? { ...said, tool_calls: calls.map((call: unknown, index) => (isJsonObject(call) ? { ...call, index } : call)) }
    : said
  const chunks = [
    { ...value, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...value, choices: [{ index: 0, delta: {}, finish_reason: end ?? 'stop' }] },
  ]
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
}

async function carry(
  transport: Transport,
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  toBody: (answer: TransportAnswer) => ReadableStream<Uint8Array>,
): Promise<Response> {
  const answer = await transport({
    url: input instanceof Request ? input.url : String(input),
    method: init?.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init?.headers)),
    ...(init?.body ? { body: textOrBytes(init.body) } : {}),
    ...(init?.signal ? { signal: init.signal } : {}),
  })
  const { status, statusText, headers } = answer
  const isBodiless = status === 204 || status === 205 || status === 304
  return new Response(isBodiless ? null : toBody(answer), { status, statusText, headers })
}

function textOrBytes(body: NonNullable<RequestInit['body']>): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  throw new TypeError('A request to a model has to be text or bytes.')
}

/** The body as a stream that lets the sender wait for a slow reader. */
function bodyOf(answer: TransportAnswer, through: (sink: BodySink) => BodySink): ReadableStream<Uint8Array> {
  let source: BodySource | undefined
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const end = (): void => {
          source?.cancel()
          source = undefined
        }
        const sink = through({
          push: (bytes) => {
            controller.enqueue(bytes)
            if ((controller.desiredSize ?? 0) <= 0) source?.pause()
          },
          end: () => controller.close(),
          fail: (error) => controller.error(error),
        })
        source = answer.read({
          ...sink,
          push: (bytes) => {
            try {
              sink.push(bytes)
            } catch (error) {
              // Errors of the listener are returned to the caller instead of crashing the event loop.
              end()
              controller.error(error)
            }
          },
        })
      },
      pull: () => source?.resume(),
      cancel: () => source?.cancel(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: waitingBytes }),
  )
}
