import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { GivenOptions, ResolvedModel } from '@inlay/agent'
import { openStream } from './live-stream.ts'
import { demandWords, findGiven, isAnswer, withGivenResults, withoutLeadingMarkers } from './given-results.ts'
import { RepetitionDetector } from './repetition.ts'

const repetitionNote = '\n\n*The answer ends here because the model only repeated itself.*'
const nothingNote = '\n\n*Nothing was found in the documents for this question.*'

/**
 * A model that reads the results of the search made for it as part of its question. What it writes is shown from the
 * first word on; an answer of numbers alone is asked for once more, and one that only repeats itself is ended.
 */
export function givenModel(resolved: ResolvedModel, options: GivenOptions): ResolvedModel {
  const { model } = resolved
  const given: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls
    },
    doGenerate: (call) => model.doGenerate({ ...call, prompt: withGivenResults(call.prompt, options) }),
    doStream: (call) => streamGiven(model, call, options),
  }
  // It should stay close to the results.
  return { ...resolved, model: given, temperature: resolved.temperature ?? 0 }
}

async function streamGiven(
  model: ResolvedModel['model'],
  call: LanguageModelV4CallOptions,
  options: GivenOptions,
): Promise<LanguageModelV4StreamResult> {
  const given = findGiven(call.prompt)
  if (!given) return openStream(model, call)
  const prompt = withGivenResults(call.prompt, options)
  const first = await openStream(model, { ...call, prompt })
  const again = async (): Promise<ReadableStream<LanguageModelV4StreamPart>> =>
    (await openStream(model, { ...call, prompt: [...prompt, demandWords(options.includeCitations)] })).stream
  // A small model answers from memory when it was given nothing.
  const note = given.isEmpty && !options.hasFiles ? nothingNote : ''
  const isResult = (number: number): boolean => given.numbers.has(number)
  const parts = answerParts(first.stream, { isResult, again, note, promptTokens: tokensOf(JSON.stringify(prompt)) })
  const stream = new ReadableStream<LanguageModelV4StreamPart>(
    {
      pull: async (controller) => {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await parts.return(undefined)),
    },
    { highWaterMark: 0 },
  )
  return { ...first, stream }
}

interface AnswerOptions {
  /** Whether a number is that of a result. */
  readonly isResult: (number: number) => boolean
  /** Asks for the answer in words; absent once it was asked for. */
  readonly again?: () => Promise<ReadableStream<LanguageModelV4StreamPart>>
  /** Follows the text of an answer. */
  readonly note: string
  readonly promptTokens: number
  /** What the first answer has used. */
  readonly used?: LanguageModelV4Usage
}

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>

/** The parts of an answer, with its text in one block. */
async function* answerParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { isResult, again, note, promptTokens, used }: AnswerOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const id = 'answer'
  const repetition = new RepetitionDetector()
  /** Text that says no word yet; undefined once it is shown. */
  let held: string | undefined = ''
  let hasCalls = false
  let length = 0
  const show = function* (delta: string): Generator<LanguageModelV4StreamPart> {
    if (held !== undefined) yield { type: 'text-start', id }
    held = undefined
    yield { type: 'text-delta', id, delta }
  }
  const end = function* (finish: Finish, added = ''): Generator<LanguageModelV4StreamPart> {
    if (held === undefined && !hasCalls && added !== '') yield { type: 'text-delta', id, delta: added }
    if (held === undefined) yield { type: 'text-end', id }
    yield used ? { ...finish, usage: sumOf(used, finish.usage) } : finish
  }
  for await (const part of stream) {
    if (part.type === 'text-start' || part.type === 'text-end') continue
    if (part.type === 'text-delta') {
      const text: string = (held ?? '') + part.delta
      length += part.delta.length
      if (held === undefined) yield* show(part.delta)
      else if (isAnswer(text, isResult)) yield* show(withoutLeadingMarkers(text))
      else held = text
      if (!repetition.push(part.delta)) continue
      if (held !== undefined) yield* show(text)
      const usage = usageOf(promptTokens, Math.ceil(length / 4))
      const finishReason = { unified: 'stop', raw: undefined } as const
      return yield* end({ type: 'finish', finishReason, usage }, repetitionNote + note)
    }
    if (part.type === 'tool-input-start' || part.type === 'tool-call') hasCalls = true
    if (part.type !== 'finish') {
      // An answer has one start, also when it was asked for twice.
      if (!used || part.type !== 'stream-start') yield part
      continue
    }
    const isOver = held === undefined || hasCalls || part.finishReason.unified === 'error'
    if (!isOver && again) return yield* answerParts(await again(), { isResult, note, promptTokens, used: part.usage })
    if (used && held !== undefined && held !== '') yield* show(held)
    return yield* end(part, note)
  }
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4)

/** A stream that is stopped never reports its usage, and yet costs tokens. */
const usageOf = (input: number, output: number): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: output, reasoning: undefined },
})

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : a + b

function sumOf(a: LanguageModelV4Usage, b: LanguageModelV4Usage): LanguageModelV4Usage {
  return {
    inputTokens: {
      total: sum(a.inputTokens.total, b.inputTokens.total),
      noCache: sum(a.inputTokens.noCache, b.inputTokens.noCache),
      cacheRead: sum(a.inputTokens.cacheRead, b.inputTokens.cacheRead),
      cacheWrite: sum(a.inputTokens.cacheWrite, b.inputTokens.cacheWrite),
    },
    outputTokens: {
      total: sum(a.outputTokens.total, b.outputTokens.total),
      text: sum(a.outputTokens.text, b.outputTokens.text),
      reasoning: sum(a.outputTokens.reasoning, b.outputTokens.reasoning),
    },
  }
}
