import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { aboutPages, openAddresses, wasOpened, readCall, type Move, type Reading } from './prompt.ts'
import { answerFromConversation, answerFromFindings } from './select.ts'
import { argumentsFor } from './arguments.ts'
import { understand, smallTalk, withoutDocuments } from './question.ts'
import { researchMove } from './research/index.ts'

/** What a person reads where a model is named. */
export const extractiveModelName = 'Built-in extractive model'

/** Tokens of prompt and answer the built-in model takes; it reads everything, so this is a matter of time only. */
export const extractiveContextTokens = 200_000

/** A kind of call the model knows, told by what is offered and asked; undefined when it is not this kind. */
type Task = (reading: Reading, options: LanguageModelV4CallOptions) => Move | undefined

const searchTools = ['internal_search', 'web_search']

const searchToolOf = ({ tools }: Reading): string | undefined => searchTools.find((name) => tools.has(name))

const hasCalledSearch = ({ toolNames }: Reading): boolean => searchTools.some((name) => toolNames.has(name))

const present = ({ questions }: Reading): string => questions.at(-1) ?? ''

const callOf = (reading: Reading, name: string): Move => {
  const { queries } = understand(reading.questions)
  const input = searchTools.includes(name) ? { queries } : argumentsFor(reading.tools.get(name), present(reading))
  return { calls: [{ name, input }] }
}

// The first that fits acts.
const tasks: readonly Task[] = [
  researchMove,
  function callForcedTool(reading) {
    if (reading.mustCall === undefined) return undefined
    const name = reading.mustCall === 'any' ? (searchToolOf(reading) ?? [...reading.tools.keys()][0]) : reading.mustCall
    return name !== undefined && reading.tools.has(name) ? callOf(reading, name) : undefined
  },
  function talk(reading) {
    const said = reading.hasSearched || reading.context.length > 0 ? undefined : smallTalk(present(reading))
    return said === undefined ? undefined : { say: said }
  },
  openAddresses,
  function search(reading) {
    const name = searchToolOf(reading)
    const isDue =
      !reading.hasSearched || (wasOpened(reading) && reading.passages.length === 0 && !hasCalledSearch(reading))
    return name === undefined || !isDue ? undefined : callOf(reading, name)
  },
  function answer(reading) {
    return reading.hasSearched || reading.passages.length > 0
      ? { say: answerFromFindings(aboutPages(reading)) }
      : undefined
  },
  function answerWithoutTools(reading) {
    return { say: answerFromConversation(reading) ?? withoutDocuments }
  },
]

function decide(reading: Reading, options: LanguageModelV4CallOptions): Move {
  for (const task of tasks) {
    const move = task(reading, options)
    if (move) return move
  }
  return { say: withoutDocuments }
}

/** A short number that follows from a text alone (FNV-1a, 32 bits). */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(36)
}

interface CallWithId {
  readonly id: string
  readonly name: string
  /** JSON of the arguments. */
  readonly input: string
}

function callsOf(move: Extract<Move, { calls: unknown }>, { questions, callIds }: Reading): CallWithId[] {
  const base = `call_${hash(questions.join('\n'))}`
  let turn = 1
  return move.calls.map(({ name, input }) => {
    while (callIds.has(`${base}_${turn}`)) turn++
    return { id: `${base}_${turn++}`, name, input: JSON.stringify(input) }
  })
}

const wordsAtOnce = 2

function* partsOf(move: Move, reading: Reading): Generator<LanguageModelV4StreamPart> {
  if ('say' in move) {
    yield { type: 'text-start', id: 'answer' }
    for (const [delta] of move.say.matchAll(new RegExp(`(?:\\S+\\s*){1,${wordsAtOnce}}|\\s+`, 'g')))
      yield { type: 'text-delta', id: 'answer', delta }
    return yield { type: 'text-end', id: 'answer' }
  }
  for (const { id, name, input } of callsOf(move, reading)) {
    yield { type: 'tool-input-start', id, toolName: name }
    for (const [delta] of input.matchAll(/[\s\S]{1,24}/g)) yield { type: 'tool-input-delta', id, delta }
    yield { type: 'tool-input-end', id }
    yield { type: 'tool-call', toolCallId: id, toolName: name, input }
  }
}

const tokens = (text: string): number => Math.ceil(text.length / 4)

function endOf(
  move: Move,
  options: LanguageModelV4CallOptions,
): { finishReason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage } {
  const unified = 'say' in move ? 'stop' : 'tool-calls'
  const input = tokens(JSON.stringify(options.prompt))
  const output = tokens('say' in move ? move.say : JSON.stringify(move.calls.map(({ input }) => input)))
  return {
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  }
}

/**
 * Makes the built-in model: it needs no key and no network, calls the search it is offered, and answers with sentences
 * of what was found, each with its citation. The same call gives the same answer. Token counts are estimates.
 */
export function extractiveModel(): LanguageModelV4 {
  const stream = (options: LanguageModelV4CallOptions): ReadableStream<LanguageModelV4StreamPart> => {
    let parts: Iterator<LanguageModelV4StreamPart> | undefined
    const begin = function* (): Generator<LanguageModelV4StreamPart> {
      const reading = readCall(options)
      const move = decide(reading, options)
      yield { type: 'stream-start', warnings: [] }
      yield* partsOf(move, reading)
      yield { type: 'finish', ...endOf(move, options) }
    }
    return new ReadableStream(
      {
        pull(controller) {
          options.abortSignal?.throwIfAborted()
          parts ??= begin()
          const { value, done } = parts.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      },
      { highWaterMark: 0 },
    )
  }
  return {
    specificationVersion: 'v4',
    provider: 'inlay',
    modelId: 'extractive',
    supportedUrls: {},
    doStream: async (options) => ({ stream: stream(options) }),
    doGenerate: async (options) => {
      const reading = readCall(options)
      const move = decide(reading, options)
      const content: LanguageModelV4Content[] =
        'say' in move
          ? [{ type: 'text', text: move.say }]
          : callsOf(move, reading).map(({ id, name, input }) => ({
              type: 'tool-call',
              toolCallId: id,
              toolName: name,
              input,
            }))
      return { content, ...endOf(move, options), warnings: [] }
    },
  }
}

/** The model as `modelProviders` of `@inlay/drivers/model-providers` takes it: `builtIn: builtInModel`. */
export const builtInModel: {
  readonly displayName: string
  readonly contextTokens: number
  readonly make: () => LanguageModelV4
} = { displayName: extractiveModelName, contextTokens: extractiveContextTokens, make: extractiveModel }
