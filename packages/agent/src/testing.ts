import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { untilAborted } from '@inlay/scheduling'

/** One call of a tool that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string
  /** Sent as JSON; a string is sent unchanged, even if it is not JSON. */
  readonly input: unknown
  /** Default `call-1`, `call-2`, … over the life of the model. */
  readonly id?: string
  /** Number of pieces in which the arguments are streamed. Default 2. */
  readonly pieces?: number
}

/**
 * Next part of a scripted step. A string is one text delta.
 * - `reasoning`, `text`: deltas of one block
 * - `call`: a tool call with streamed arguments; `calls`: several calls with interleaved arguments
 * - `pause`: waits for the given promise; `hang`: waits until the call is aborted
 * - `error`: an error part, after which the stream continues; `cut`: the stream breaks with this error
 * - `finish`: ends the step with this reason and usage; `none` ends the stream without a finish part
 * - `part`: any part, unchanged
 */
export type ScriptPart =
  | string
  | { readonly reasoning: string | readonly string[] }
  | { readonly text: readonly string[] }
  | { readonly call: ScriptedCall }
  | { readonly calls: readonly ScriptedCall[] }
  | { readonly pause: () => Promise<unknown> }
  | { readonly hang: true }
  | { readonly error: unknown }
  | { readonly cut: unknown }
  | { readonly finish: FinishName | 'none'; readonly raw?: string; readonly usage?: { input: number; output: number } }
  | { readonly part: LanguageModelV4StreamPart }

type FinishName = LanguageModelV4FinishReason['unified']

/** One step of a script: its parts, or an error that the call rejects with before anything streams. */
export type ScriptStep = readonly ScriptPart[] | { readonly reject: unknown }

/** The steps in order, or a function that makes the step for a call (numbered from 0). */
export type Script =
  | readonly ScriptStep[]
  | ((call: LanguageModelV4CallOptions, index: number) => ScriptStep | Promise<ScriptStep>)

export interface ScriptedModelOptions {
  /** Name of its provider. Default `scripted`. */
  readonly provider?: string
  /** Its own name. Default `scripted`. */
  readonly modelId?: string
}

/** A model that follows a script and records its requests. */
export interface ScriptedModel extends LanguageModelV4 {
  /** Every call so far with its prompt, tools and settings, oldest first. */
  readonly requests: readonly LanguageModelV4CallOptions[]
  /** Number of its streams that were aborted or abandoned before their end. */
  readonly abandoned: () => number
}

// Lets timers and sockets run while a script streams without pauses.
const partsPerTurn = 32

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => (typeof setImmediate === 'function' ? setImmediate(resolve) : setTimeout(resolve)))

const usageOf = (input: number | undefined, output: number | undefined): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: output, text: output, reasoning: 0 },
})

/** Splits text into pieces of nearly equal length; fewer pieces when it is short. */
const cut = (text: string, pieces: number): string[] => {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, pieces)))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )
}

function* block(
  kind: 'text' | 'reasoning',
  id: string,
  deltas: readonly string[],
): Generator<LanguageModelV4StreamPart> {
  yield { type: `${kind}-start`, id }
  for (const delta of deltas) yield { type: `${kind}-delta`, id, delta }
  yield { type: `${kind}-end`, id }
}

function* callParts(calls: readonly (ScriptedCall & { id: string })[]): Generator<LanguageModelV4StreamPart> {
  const inputs = calls.map(({ input }) => (typeof input === 'string' ? input : JSON.stringify(input)))
  const pieces = calls.map((call, index) => cut(inputs[index] ?? '', call.pieces ?? 2))
  for (const call of calls) yield { type: 'tool-input-start', id: call.id, toolName: call.name }
  for (let turn = 0; pieces.some((own) => turn < own.length); turn++)
    for (const [index, call] of calls.entries()) {
      const delta = pieces[index]?.[turn]
      if (delta !== undefined) yield { type: 'tool-input-delta', id: call.id, delta }
    }
  for (const [index, call] of calls.entries()) {
    yield { type: 'tool-input-end', id: call.id }
    yield { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: inputs[index] ?? '' }
  }
}

/** Plays one step. Throws the error that the script defines. */
async function* play(
  step: readonly ScriptPart[],
  call: LanguageModelV4CallOptions,
  newId: (kind: string) => string,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const { abortSignal: signal = new AbortController().signal } = call
  let text: string | undefined
  let called = false
  yield { type: 'stream-start', warnings: [] }
  for (const part of step) {
    if (typeof part === 'string') {
      if (text === undefined) yield { type: 'text-start', id: (text = newId('text')) }
      yield { type: 'text-delta', id: text, delta: part }
      continue
    }
    const isPaused = 'pause' in part || 'hang' in part
    if (text !== undefined && !isPaused && !('cut' in part)) {
      yield { type: 'text-end', id: text }
      text = undefined
    }
    if ('pause' in part) await untilAborted(part.pause(), signal)
    else if ('hang' in part) await untilAborted(new Promise<never>(() => {}), signal)
    else if ('cut' in part) throw part.cut
    else if ('error' in part) yield { type: 'error', error: part.error }
    else if ('part' in part) yield part.part
    else if ('text' in part) yield* block('text', newId('text'), part.text)
    else if ('reasoning' in part) yield* block('reasoning', newId('reasoning'), [part.reasoning].flat())
    else if ('finish' in part) {
      if (part.finish === 'none') return
      const finishReason = { unified: part.finish, raw: part.raw ?? part.finish }
      return yield { type: 'finish', finishReason, usage: usageOf(part.usage?.input, part.usage?.output) }
    } else {
      called = true
      const calls = 'call' in part ? [part.call] : part.calls
      yield* callParts(calls.map((call) => ({ ...call, id: call.id ?? newId('call') })))
    }
  }
  if (text !== undefined) yield { type: 'text-end', id: text }
  const unified = called ? 'tool-calls' : 'stop'
  yield { type: 'finish', finishReason: { unified, raw: unified }, usage: usageOf(10, 5) }
}

interface Collected {
  readonly content: LanguageModelV4Content[]
  readonly finishReason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
}

/** Collects the content of a streamed answer, for callers that do not stream. Throws the error of an error part. */
async function collect(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<Collected> {
  const content: LanguageModelV4Content[] = []
  let end: Omit<Collected, 'content'> = {
    finishReason: { unified: 'other', raw: undefined },
    usage: usageOf(undefined, undefined),
  }
  for await (const part of stream) {
    const last = content.at(-1)
    if (part.type === 'error') throw part.error
    if (part.type === 'text-start') content.push({ type: 'text', text: '' })
    if (part.type === 'reasoning-start') content.push({ type: 'reasoning', text: '' })
    if (part.type === 'tool-call') content.push(part)
    const isDelta = part.type === 'text-delta' || part.type === 'reasoning-delta'
    if (isDelta && (last?.type === 'text' || last?.type === 'reasoning')) last.text += part.delta
    if (part.type === 'finish') end = { finishReason: part.finishReason, usage: part.usage }
  }
  return { content, ...end }
}

/**
 * Makes a language model for tests that follows a script: one step per call. It streams as real ones do, lets the event
 * loop breathe, and ends a step by itself (`tool-calls` after a call, else `stop`) unless the script does. A call
 * beyond the last step rejects. Searches ask the model of a run for help, which takes steps of their own: an agent made
 * with `searchHelp: { expand: false }` keeps to the script.
 * @example
 * const model = scriptedModel([[{ call: { name: 'search', input: { q: 'leave' } } }], ['25 days ', '[1].']])
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = []
  const counts = new Map<string, number>()
  let abandoned = 0
  const newId = (kind: string): string => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return `${kind}-${counts.get(kind)}`
  }

  const start = async (call: LanguageModelV4CallOptions): Promise<ReadableStream<LanguageModelV4StreamPart>> => {
    const index = requests.push(call) - 1
    const step = typeof script === 'function' ? await script(call, index) : script[index]
    if (!step) throw new Error(`The script has no step for call ${index + 1}.`)
    if ('reject' in step) throw step.reject
    const parts = play(step, call, newId)
    let sent = 0
    return new ReadableStream<LanguageModelV4StreamPart>(
      {
        async pull(controller) {
          try {
            if (++sent % partsPerTurn === 0) await nextTurn()
            call.abortSignal?.throwIfAborted()
            const { value, done } = await parts.next()
            if (done) controller.close()
            else controller.enqueue(value)
          } catch (error) {
            if (call.abortSignal?.aborted) abandoned++
            controller.error(error)
          }
        },
        cancel() {
          abandoned++
        },
      },
      { highWaterMark: 0 },
    )
  }

  return {
    specificationVersion: 'v4',
    provider: options.provider ?? 'scripted',
    modelId: options.modelId ?? 'scripted',
    supportedUrls: {},
    requests,
    abandoned: () => abandoned,
    doStream: async (call) => ({ stream: await start(call) }),
    doGenerate: async (call) => ({ ...(await collect(await start(call))), warnings: [] }),
  }
}
