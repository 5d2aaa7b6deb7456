import type { Client } from '@inlay/client'
import { isInlayError, type ChatFullResponse, type LlmOverride } from '@inlay/protocol'
import { mapConcurrent } from '@inlay/protocol/concurrency'
import { citedSentences, plain, readJudgement, toJudgement } from './judge-citations.ts'
import type { EvaluationQuestion } from './questions.ts'

/** What is evaluated, and how. */
export interface EvaluationSetting {
  readonly client: Pick<Client, 'ask'>
  /** The model that answers. Default: that of the installation. */
  readonly model?: LlmOverride | undefined
  /** A model that judges citations besides words. Default: none. */
  readonly judge?: LlmOverride | undefined
  /** Questions that are asked at a time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Milliseconds; a clock that never goes back. */
  readonly now: () => number
  /** Hears of each question that was answered. */
  readonly onAnswer: () => void
}

/** What came of one question. Undefined where it does not apply, null where it could not be told. */
export interface QuestionResult {
  readonly question: string
  readonly answer: string
  /** Why there is no answer; null when there is one. */
  readonly error: string | null
  /** Whether the answer holds a known answer. */
  readonly contains?: boolean
  /** Whether the first citation names a right source. */
  readonly rightSource?: boolean
  /** Whether the answer cites nothing, which is right for absent questions alone. */
  readonly isUncited: boolean
  readonly isAbsent: boolean
  /** Absent in reports of older versions. */
  readonly isTuned?: boolean
  readonly citedSentences: number
  /** Of these, the ones that their texts say. */
  readonly supportedByWords: number
  readonly supportedByModel?: number
  readonly words: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly toolCalls: number
  readonly ms: number
}

/** Asks every question in a conversation of its own. An answer that fails is a result too. */
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

async function askOne(question: EvaluationQuestion, setting: EvaluationSetting): Promise<QuestionResult> {
  const { client, model, signal, now } = setting
  const began = now()
  let answer: ChatFullResponse
  try {
    answer = await client.ask(
      { message: question.question, include_usage: true, ...(model && { llm_override: model }) },
      { signal },
    )
  } catch (error) {
    signal.throwIfAborted()
    return failed(
      question,
      isInlayError(error) ? error.message : 'The installation could not be reached.',
      now() - began,
    )
  }
  if (answer.error_msg !== null) return failed(question, answer.error_msg, now() - began)
  const ms = now() - began
  const cited = citedSentences(answer)
  const judged = setting.judge && (await judgeAll(cited, setting))
  const text = answer.answer_citationless
  return {
    question: question.question,
    answer: answer.answer,
    error: null,
    ...(question.answers.length > 0 && { contains: holdsAny(text, question.answers) }),
    ...(question.sources.length > 0 && { rightSource: namesSource(answer, question.sources) }),
    isUncited: answer.citation_info.length === 0,
    isAbsent: question.isAbsent,
    isTuned: question.isTuned,
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

function failed(
  { question, answers, sources, isAbsent, isTuned }: EvaluationQuestion,
  error: string,
  ms: number,
): QuestionResult {
  return {
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
