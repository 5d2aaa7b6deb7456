import type { Dialect, Events, RecordedRequest, ReplyPart } from '../model-server.ts'
import { isJson, objects, type Json, type Outcome, type Rule } from './provider.ts'
import { first } from './schemas.ts'

/** How a provider writes chat completions. */
export interface ChatStyle {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of each chunk. */
  readonly base?: Json
  /** The chunk before the first part. Default: the role with empty text. */
  readonly opening?: readonly Json[]
  /** Chunks after the last part. */
  readonly closing?: readonly Json[]
  /** Raw events between the parts, such as comments that keep the connection. */
  readonly comment?: string
  /** Id of the `n`th call of the conversation. */
  readonly callId: (n: number, name: string) => string
  /** `letters`: the arguments come letter by letter; `whole`: in one piece; `unnumbered`: whole, without an index. */
  readonly calls?: 'halves' | 'letters' | 'whole' | 'unnumbered'
  /** More fields of a call. */
  readonly signCall?: (n: number) => Json
  /** More fields of the delta or message that has calls, by the id of the first. */
  readonly signMessage?: (id: string, n: number) => Json
  /** The fields that carry a thought. Default: `reasoning_content`. */
  readonly thought?: (text: string, n: number) => Json
  /** More fields of each delta. */
  readonly delta?: Json
  readonly reasons?: Readonly<Record<string, string>>
  /** Where the usage stands: a chunk without choices, asked for by `stream_options`; always so; the last choice; its chunk. */
  readonly usage?: 'asked' | 'always' | 'in choice' | 'with reason'
  readonly usageOf?: Json
}

const event = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const numbers = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }
const argumentsOf = (input: unknown): string => (typeof input === 'string' ? input : JSON.stringify(input))

function piecesOf(text: string, calls: ChatStyle['calls']): string[] {
  if (calls === 'letters') return [...text]
  const half = Math.ceil(text.length / 2)
  return [text.slice(0, half), text.slice(half)]
}

/** Number of calls in the messages of a request. */
export const countCalls = ({ body }: Pick<RecordedRequest, 'body'>): number =>
  objects(body['messages']).reduce((sum, message) => sum + objects(message['tool_calls']).length, 0)

/** Chat completions as a provider writes them; a function of the request, as it numbers the calls of the conversation. */
export const chatDialect =
  (style: ChatStyle) =>
  (request: RecordedRequest): Dialect | undefined => {
    const path = style.path ?? '/v1/chat/completions'
    const model = String(request.body['model'])
    const options = request.body['stream_options']
    const wantsUsage = isJson(options) && options['include_usage'] === true
    const base = { id: 'chatcmpl-1', created: 1_700_000_000, model, ...style.base }
    const chunk = (delta: Json, reason: string | null = null, more: Json = {}): string =>
      event({
        object: 'chat.completion.chunk',
        ...base,
        choices: [{ index: 0, delta: { ...style.delta, ...delta }, finish_reason: reason }],
        ...more,
      })
    const usage = { ...numbers, ...style.usageOf }
    const thought = style.thought ?? ((text: string) => ({ reasoning_content: text }))
    let calls = countCalls(request)
    const callOf = ({ name, input }: { name: string; input: unknown }, text = argumentsOf(input)): Json => {
      const n = calls++
      return {
        id: style.callId(n, name),
        type: 'function',
        function: { name, arguments: text },
        ...style.signCall?.(n),
      }
    }
    const write = (part: ReplyPart): Events => {
      if ('text' in part) return [chunk({ content: part.text })]
      if ('reasoning' in part) return [chunk(thought(part.reasoning, calls))]
      if ('error' in part) return [event({ error: part.error })]
      if (!('calls' in part)) return []
      const signature = style.signMessage?.(style.callId(calls, part.calls[0]?.name ?? ''), calls) ?? {}
      if (style.calls === 'whole' || style.calls === 'unnumbered') {
        return part.calls.map((call, index) =>
          chunk({
            tool_calls: [{ ...(style.calls === 'whole' && { index }), ...callOf(call) }],
            ...(index === 0 && signature),
          }),
        )
      }
      return part.calls.flatMap((call, index) => [
        chunk({ tool_calls: [{ index, ...callOf(call, '') }], ...(index === 0 && signature) }),
        ...piecesOf(argumentsOf(call.input), style.calls).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ])
    }
    const finish = (reason: string): Events => {
      const said = style.reasons?.[reason] ?? reason
      if (style.usage === 'with reason') return [chunk({}, said, { usage }), event('[DONE]')]
      if (style.usage === 'in choice') {
        const choices = [{ index: 0, delta: {}, finish_reason: said, usage }]
        return [event({ object: 'chat.completion.chunk', ...base, choices }), event('[DONE]')]
      }
      const last = style.usage === 'always' || wantsUsage ? [event({ ...base, choices: [], usage })] : []
      const closing = (style.closing ?? []).map((each) => event({ ...base, ...each }))
      return [chunk({}, said), ...closing, ...last, event('[DONE]')]
    }
    return {
      path,
      ...(style.headers && { headers: style.headers }),
      start: () =>
        style.opening
          ? style.opening.map((each) => event({ ...base, ...each }))
          : [chunk({ role: 'assistant', content: '' })],
      write: (part) => (style.comment === undefined ? write(part) : [style.comment, ...write(part)]),
      finish,
      whole: (parts) => {
        const join = (texts: string[]): string | null => (texts.length > 0 ? texts.join('') : null)
        const partCalls = parts.flatMap((part) => ('calls' in part ? part.calls : []))
        const thoughts = join(parts.flatMap((part) => ('reasoning' in part ? [part.reasoning] : [])))
        const message = {
          role: 'assistant',
          ...(thoughts !== null && thought(thoughts, calls)),
          content: join(parts.flatMap((part) => ('text' in part ? [part.text] : []))),
          ...(partCalls.length > 0 && style.signMessage?.(style.callId(calls, partCalls[0]!.name), calls)),
          ...(partCalls.length > 0 && { tool_calls: partCalls.map((call) => callOf(call)) }),
        }
        const end = parts.find((part) => 'end' in part)
        const reason = end && 'end' in end ? String(end.end) : partCalls.length > 0 ? 'tool_calls' : 'stop'
        const choices = [{ index: 0, message, finish_reason: style.reasons?.[reason] ?? reason }]
        return { object: 'chat.completion', ...base, choices, usage }
      },
    }
  }

/** One call in the messages of a request. */
export interface PastCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly call: Json
  readonly message: Json
  /** Number of its message, and its own within that. */
  readonly at: number
  readonly index: number
}

export const messagesOf = ({ body }: Pick<RecordedRequest, 'body'>): readonly Json[] => objects(body['messages'])

export const pastCalls = (request: Pick<RecordedRequest, 'body'>): PastCall[] =>
  messagesOf(request).flatMap((message, at) =>
    objects(message['tool_calls']).map((call, index) => {
      const described = isJson(call['function']) ? call['function'] : {}
      const id = String(call['id'])
      return {
        id,
        name: String(described['name']),
        arguments: String(described['arguments']),
        call,
        message,
        at,
        index,
      }
    }),
  )

export const forMessages = (
  name: string,
  source: string,
  refuses: (message: Json, at: number, all: readonly Json[]) => Outcome,
): Rule => ({
  name,
  source,
  refuses: (request) => first(messagesOf(request), (message, at) => refuses(message, at, messagesOf(request))),
})

export const forCalls = (name: string, source: string, refuses: (call: PastCall) => Outcome): Rule => ({
  name,
  source,
  refuses: (request) => first(pastCalls(request), refuses),
})

/** Each call has its result before any other message; each result has its call. */
export function resultsFollowCalls(
  source: string,
  words: { missing: (ids: readonly string[], at: number) => Outcome; orphaned: (at: number) => Outcome },
): Rule {
  const refuses = ({ body }: RecordedRequest): Outcome => {
    let open: string[] = []
    let called = 0
    for (const [at, message] of objects(body['messages']).entries()) {
      if (message['role'] === 'tool') {
        const id = String(message['tool_call_id'])
        if (!open.includes(id)) return words.orphaned(at)
        open = open.filter((other) => other !== id)
        continue
      }
      if (open.length > 0) return words.missing(open, called)
      open = objects(message['tool_calls']).map(({ id }) => String(id))
      called = at
    }
    return open.length > 0 ? words.missing(open, called) : undefined
  }
  return { name: 'results right after calls', source, refuses }
}

/** A field of the request that may not be there. */
export const without = (field: string, source: string, refuses: (value: unknown, body: Json) => Outcome): Rule => ({
  name: field,
  source,
  refuses: ({ body }) => (body[field] === undefined ? undefined : refuses(body[field], body)),
})

/** The pictures in the messages: their bytes when they are data URLs. */
export const picturesOf = (request: Pick<RecordedRequest, 'body'>): { url: string; base64: string; at: number }[] =>
  messagesOf(request).flatMap((message, at) =>
    objects(message['content']).flatMap(({ image_url: image }) => {
      const url = isJson(image) ? String(image['url']) : typeof image === 'string' ? image : undefined
      return url === undefined ? [] : [{ url, base64: url.slice(url.indexOf(',') + 1), at }]
    }),
  )
