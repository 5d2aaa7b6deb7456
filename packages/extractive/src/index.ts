import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { aboutPages, openAddresses, openTool, readCall, type Move, type Reading } from './prompt.ts'
import { answerFromConversation, answerFromFindings } from './answer.ts'
import { argumentsFor } from './arguments.ts'
import { understand } from './question.ts'
import { smallTalk, withoutDocuments } from './talk.ts'

/** Context window in tokens. The model accepts any length, but longer prompts take more time. */
export const extractiveContextTokens = 200_000

const searchTools = ['internal_search', 'web_search']

const callOf = (reading: Reading, name: string): Move => {
  const input = searchTools.includes(name)
    ? { queries: understand(reading.questions).queries }
    : argumentsFor(reading.tools.get(name), reading.questions.at(-1) ?? '')
  return { calls: [{ name, input }] }
}

async function decide(reading: Reading): Promise<Move> {
  const { tools, toolNames, mustCall, passages } = reading
  const [hasSearched, hasOpened] = [toolNames.size > 0, toolNames.has(openTool)]
  const searchTool = searchTools.find((name) => tools.has(name))
  const forced = mustCall === 'any' ? (searchTool ?? [...tools.keys()][0]) : mustCall
  if (forced !== undefined && tools.has(forced)) return callOf(reading, forced)
  const said = hasSearched || reading.context.length > 0 ? undefined : smallTalk(reading.questions.at(-1) ?? '')
  if (said !== undefined) return { say: said }
  const opening = openAddresses(reading)
  if (opening) return opening
  const hasCalledSearch = searchTools.some((name) => toolNames.has(name))
  const isSearchDue = !hasSearched || (hasOpened && passages.length === 0 && !hasCalledSearch)
  if (searchTool !== undefined && isSearchDue) return callOf(reading, searchTool)
  if (hasSearched || passages.length > 0)
    return { say: await answerFromFindings(hasOpened ? aboutPages(reading) : reading) }
  return { say: (await answerFromConversation(reading)) ?? withoutDocuments }
}

/** A text, or calls with ids that the conversation does not have: the same request gives the same response. */
function contentOf(move: Move, { callIds }: Reading): LanguageModelV4Content[] {
  if ('say' in move) return [{ type: 'text', text: move.say }]
  let turn = callIds.size
  return move.calls.map(({ name, input }) => {
    while (callIds.has(`call_${turn}`)) turn++
    return { type: 'tool-call', toolCallId: `call_${turn++}`, toolName: name, input: JSON.stringify(input) }
  })
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4)

async function doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
  const reading = readCall(options)
  const move = await decide(reading)
  const content = contentOf(move, reading)
  const unified = 'say' in move ? 'stop' : 'tool-calls'
  const input = tokensOf(JSON.stringify(options.prompt))
  const output = tokensOf('say' in move ? move.say : JSON.stringify(move.calls))
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    warnings: [],
  }
}

async function* partsOf(options: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  const { content, finishReason, usage, warnings } = await doGenerate(options)
  yield { type: 'stream-start', warnings }
  for (const part of content)
    if (part.type === 'text') {
      yield { type: 'text-start', id: 'answer' }
      for (const [delta] of part.text.matchAll(/(?:\S+\s*){1,2}|\s+/g))
        yield { type: 'text-delta', id: 'answer', delta }
      yield { type: 'text-end', id: 'answer' }
    } else if (part.type === 'tool-call') {
      const id = part.toolCallId
      yield { type: 'tool-input-start', id, toolName: part.toolName }
      yield { type: 'tool-input-delta', id, delta: part.input }
      yield { type: 'tool-input-end', id }
      yield part
    }
  yield { type: 'finish', finishReason, usage }
}

/**
 * Creates the built-in model. It needs no key and no network, calls the search tool, and answers with sentences from
 * the results, each with its citation. Deterministic: the same request gives the same response. Token counts are
 * estimates.
 */
export function extractiveModel(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'inlay',
    modelId: 'extractive',
    supportedUrls: {},
    async doStream(options) {
      // Reading starts with the first pull.
      const parts = partsOf(options)
      const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>): Promise<void> => {
        options.abortSignal?.throwIfAborted()
        const { value, done } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(value)
      }
      return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }) }
    },
    doGenerate,
  }
}

/** The built-in model for `modelProviders` of `@inlay/drivers/model-providers`: `builtIn: builtInModel`. */
export const builtInModel: {
  readonly displayName: string
  readonly contextTokens: number
  readonly make: () => LanguageModelV4
} = { displayName: 'Built-in extractive model', contextTokens: extractiveContextTokens, make: extractiveModel }
