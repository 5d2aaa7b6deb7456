import type { Client } from '@inlay/client'
import { isInlayError, type ChatFullResponse, type LlmOverride } from '@inlay/protocol'
import { mapConcurrent } from '@inlay/scheduling'
import { citedSentences, plain, readJudgement, toJudgement } from './judge-citations.ts'
import type { EvaluationQuestion } from './questions.ts'

export interface EvaluationSetting {
  readonly client: Pick<Client, 'ask'>
  /** The model to evaluate. Default: the default model of the installation. */
  readonly model?: LlmOverride | undefined
  /** A model that checks citations, in addition to the comparison of words. Default: none. */
  readonly judge?: LlmOverride | undefined
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Monotonic clock in milliseconds. */
  readonly now: () => number
  readonly onAnswer: () => void
}

/** Result of a question. Undefined if a figure does not apply, null if it is unknown. */
export interface QuestionResult {
  readonly question: string
  readonly answer: string
  /** Reason for a missing answer; null if there is an answer. */
  readonly error: string | null
  /** Whether the answer contains a known answer. */
  readonly contains?: boolean
  /** Whether the first citation is one of the right sources. */
  readonly rightSource?: boolean
  /** Whether the answer has no citation, which is right only for absent questions. */
  readonly isUncited: boolean
  readonly isAbsent: boolean
  /** Absent in reports of older versions. */
  readonly isTuned?: boolean
  readonly citedSentences: number
  /** Number of those that the cited texts support. */
  readonly supportedByWords: number
  readonly supportedByModel?: number
  readonly words: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly toolCalls: number
  readonly ms: number
}

/** Asks every question in its own session. A failed answer is a result too. */
export function evaluate(
  questions: readonly EvaluationQuestion[],
  setting: EvaluationSetting,
): Promise<QuestionResult[]> {
  return mapConcurrent(questions, setting.concurrency, async (question) => {
    const result = await askOne(question, setting)
    setting.onAnswer()
    return result
  })
}

async function askOne(entry: EvaluationQuestion, setting: EvaluationSetting): Promise<QuestionResult> {
  const { client, model, signal, now } = setting
  const { question, answers, sources, isAbsent, isTuned } = entry
  const began = now()
  const failed = (error: string): QuestionResult => ({
    question,
    answer: '',
    error,
    ...(answers.length > 0 && { contains: false }),
    ...(sources.length > 0 && { rightSource: false }),
    isUncited: true,
    isAbsent,
    isTuned,
    citedSentences: 0,
    supportedByWords: 0,
    words: 0,
    inputTokens: null,
    outputTokens: null,
    toolCalls: 0,
    ms: now() - began,
  })
  let answer: ChatFullResponse
  try {
    const message = { message: question, include_usage: true, ...(model && { llm_override: model }) }
    answer = await client.ask(message, { signal })
  } catch (error) {
    signal.throwIfAborted()
    return failed(isInlayError(error) ? error.message : 'The installation could not be reached.')
  }
  if (answer.error_msg !== null) return failed(answer.error_msg)
  const ms = now() - began
  const cited = citedSentences(answer)
  const judged = setting.judge && (await judgeAll(cited, setting))
  const text = answer.answer_citationless
  return {
    ...failed(''),
    answer: answer.answer,
    error: null,
    ...(answers.length > 0 && { contains: holdsAny(text, answers) }),
    ...(sources.length > 0 && { rightSource: namesSource(answer, sources) }),
    isUncited: answer.citation_info.length === 0,
    citedSentences: cited.length,
    supportedByWords: cited.filter(({ isSupported }) => isSupported).length,
    ...(judged !== undefined && { supportedByModel: judged }),
    words: text.split(/\s+/).filter(Boolean).length,
    inputTokens: answer.usage?.input_tokens ?? null,
    outputTokens: answer.usage?.output_tokens ?? null,
    toolCalls: answer.tool_calls.length,
    ms,
  }
}

function holdsAny(text: string, answers: readonly string[]): boolean {
  const said = ` ${plain(text)} `
  return answers.some((answer) => said.includes(` ${plain(answer)} `))
}

function namesSource(
  { answer, citation_info: cited, top_documents: documents }: ChatFullResponse,
  sources: readonly string[],
): boolean {
  const placed = cited.map(({ citation_number: number, document_id: id }) => ({
    id,
    at: answer.indexOf(`[[${number}]]`),
  }))
  const first = placed.toSorted((a, b) => a.at - b.at)[0]?.id
  if (first === undefined) return false
  const document = documents.find((candidate) => candidate.document_id === first)
  const names = [first, document?.link, document?.semantic_identifier]
  return sources.some((source) => names.includes(source) || first.endsWith(`/${source}`))
}

async function judgeAll(
  cited: ReturnType<typeof citedSentences>,
  { client, judge, signal }: EvaluationSetting,
): Promise<number> {
  let supported = 0
  for (const sentence of cited) {
    const answer = await client
      .ask({ ...toJudgement(sentence), ...(judge && { llm_override: judge }) }, { signal })
      .catch(() => undefined)
    signal.throwIfAborted()
    if (answer && readJudgement(answer.answer) === true) supported++
  }
  return supported
}
