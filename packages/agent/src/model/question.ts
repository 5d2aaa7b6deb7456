import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import { estimateTokens, promptLimit } from '../prompt/context-window.ts'
import type { ModelQuestion } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { playStep } from './step.ts'
import type { StepListener } from './step-output.ts'

/** What questions are put with. */
export interface QuestionOptions {
  /** The model of the run. */
  readonly model: ResolvedModel
  /** Finds another model that is asked instead. Default: that of the run is asked. */
  readonly helper?: () => Promise<ResolvedModel>
  readonly modelIndex: number
  /** How much the model of the run is told to think; undefined leaves it to the model. */
  readonly reasoning?: LanguageModelV4CallOptions['reasoning']
  /** Aborts with the run. */
  readonly signal: AbortSignal
  /** Tries of a call that fails before it said anything, at least 1. */
  readonly tries: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Longest time of one question with all its tries, in milliseconds. */
  readonly limitMs: number
  /** Hears what each answer cost. */
  readonly onUsage: (usage: LanguageModelV4Usage) => void
}

/** Longest time of one question, in milliseconds. */
export const questionLimitMs = 60_000

/**
 * Makes the way in which actions ask a model; undefined for one that only quotes documents. A question
 * has no tools and no conversation. It rejects with what the model failed of, EMPTY_LLM_RESPONSE without an answer, and
 * GATEWAY_TIMEOUT when time is up.
 */
export function createQuestions(options: QuestionOptions): ((question: ModelQuestion) => Promise<string>) | undefined {
  const { model, helper } = options
  if (model.quotesOnly && !helper) return undefined
  return async (question) => {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(tooSlow()), options.limitMs)
    const own = question.signal ? [question.signal] : []
    try {
      const chosen = helper ? { ...options, model: await helper(), reasoning: undefined } : options
      return await ask(question, chosen, AbortSignal.any([options.signal, limit.signal, ...own]))
    } finally {
      clearTimeout(timer)
    }
  }
}

async function ask(question: ModelQuestion, options: QuestionOptions, signal: AbortSignal): Promise<string> {
  const { model, modelIndex } = options
  const { instructions, answerTokens = 500 } = question
  const promptTokens = promptLimit(model.contextTokens, [])
  const limitChars = Math.max(1_000, (promptTokens - estimateTokens(instructions)) * 2)
  const call: LanguageModelV4CallOptions = {
    prompt: [
      { role: 'system', content: instructions },
      { role: 'user', content: [{ type: 'text', text: question.text.slice(0, limitChars).toWellFormed() }] },
    ],
    maxOutputTokens: Math.min(answerTokens + thoughtTokens, Math.floor(model.contextTokens / 4)),
    // As in the answer itself: what a model was not set to, its provider may refuse.
    ...(options.reasoning && { reasoning: options.reasoning }),
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
  }
  const { content, usage } = await playStep({
    model: model.model,
    options: call,
    listener: silent,
    signal,
    promptTokens,
    mayRecover: false,
    tries: options.tries,
    wait: options.wait,
    context: { model: model.name, provider: model.provider, modelIndex },
  })
  options.onUsage(usage)
  return content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim()
}

/** A model that thinks before it answers needs room for both. */
const thoughtTokens = 2_000

const silent: StepListener = { onText: () => {}, onReasoning: () => {}, onCall: () => {}, onArguments: () => {} }

function tooSlow(): InlayError {
  return new InlayError('GATEWAY_TIMEOUT', { message: 'The model took too long to answer a question of an action.' })
}
