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

const searchTools = ['internal_search', 'web_search']

const callOf = (reading: Reading, name: string): Move => {
  const { queries } = understand(reading.questions)
  const question = reading.questions.at(-1) ?? ''
  const input = searchTools.includes(name) ? { queries } : argumentsFor(reading.tools.get(name), question)
  return { calls: [{ name, input }] }
}

function decide(reading: Reading, options: LanguageModelV4CallOptions): Move {
  const { tools, toolNames, mustCall, hasSearched, passages } = reading
  // The step of a deep research that the call belongs to, as the agent tells models that only quote.
  const phase = options.providerOptions?.['inlay']?.['research']
  const inResearch = typeof phase === 'string' ? researchMove(phase, reading, options) : undefined
  if (inResearch) return inResearch
  const searchTool = searchTools.find((name) => tools.has(name))
  const forced = mustCall === 'any' ? (searchTool ?? [...tools.keys()][0]) : mustCall
  if (forced !== undefined && tools.has(forced)) return callOf(reading, forced)
  const said = hasSearched || reading.context.length > 0 ? undefined : smallTalk(reading.questions.at(-1) ?? '')
  if (said !== undefined) return { say: said }
  const opening = openAddresses(reading)
  if (opening) return opening
  const hasCalledSearch = searchTools.some((name) => toolNames.has(name))
  const isSearchDue = !hasSearched || (wasOpened(reading) && passages.length === 0 && !hasCalledSearch)
  if (searchTool !== undefined && isSearchDue) return callOf(reading, searchTool)
  if (hasSearched || passages.length > 0) return { say: answerFromFindings(aboutPages(reading)) }
  return { say: answerFromConversation(reading) ?? withoutDocuments }
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
