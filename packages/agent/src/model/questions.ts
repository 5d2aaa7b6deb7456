import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { ModelQuestion } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { estimateTokens, maxPromptTokens } from '../prompt/context-window.ts'
import { userMessage } from '../prompt/history.ts'
import { playStep } from './retry-step.ts'
import type { StepListener } from './step-output.ts'

export interface QuestionOptions {
  readonly model: ResolvedModel
  /** Finds another model to ask instead. Default: the model of the run. */
  readonly helper?: () => Promise<ResolvedModel>
  readonly modelIndex: number
  /** How much the model of the run should reason; undefined leaves it to the model. */
  readonly reasoning?: LanguageModelV4CallOptions['reasoning']
  /** Aborts with the run. */
  readonly signal: AbortSignal
  /** Attempts of a call that fails before its first output, at least 1. */
  readonly maxAttempts: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Timeout of one question with all its attempts, in milliseconds. */
  readonly timeoutMs: number
  /** Models that were slow to answer. Default: not remembered. */
  readonly slowModels?: SlowModels
  readonly onUsage: (usage: LanguageModelV4Usage) => void
}

// Number of optional questions that a slow model is not asked.
const spared = 50

/** Models that do not answer optional questions in time. */
export class SlowModels {
  readonly #left = new Map<string, number>()

  /** Whether not to ask the model; counts down. */
  spares({ provider, name }: ResolvedModel): boolean {
    const left = this.#left.get(`${provider} ${name}`) ?? 0
    if (left > 0) this.#left.set(`${provider} ${name}`, left - 1)
    return left > 0
  }

  note({ provider, name }: ResolvedModel): void {
    if (this.#left.size >= 1_000) this.#left.clear()
    this.#left.set(`${provider} ${name}`, spared)
  }
}

export const questionTimeoutMs = 60_000

/**
 * Undefined for a model that only quotes documents. Rejects with the model's failure, EMPTY_LLM_RESPONSE without an
 * answer, and GATEWAY_TIMEOUT at the timeout.
 */
export function createQuestions(options: QuestionOptions): ((question: ModelQuestion) => Promise<string>) | undefined {
  const { model, helper } = options
  if (model.quotesOnly && !helper) return undefined
  return async (question) => {
    const chosen = helper ? { ...options, model: await helper(), reasoning: undefined } : options
    if (question.signal && options.slowModels?.spares(chosen.model)) throw tooSlow()
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(tooSlow()), options.timeoutMs)
    const own = question.signal ? [question.signal] : []
    try {
      return await ask(question, chosen, AbortSignal.any([options.signal, limit.signal, ...own]))
    } catch (error) {
      if (question.signal?.aborted && !options.signal.aborted) options.slowModels?.note(chosen.model)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

async function ask(question: ModelQuestion, options: QuestionOptions, signal: AbortSignal): Promise<string> {
  const { model, modelIndex } = options
  const { instructions, answerTokens = 500 } = question
  const promptTokens = maxPromptTokens(model.contextTokens, [])
  const maxChars = Math.max(1_000, (promptTokens - estimateTokens(instructions)) * 2)
  const call: LanguageModelV4CallOptions = {
    prompt: [{ role: 'system', content: instructions }, userMessage(question.text.slice(0, maxChars).toWellFormed())],
    maxOutputTokens: Math.min(answerTokens + thoughtTokens, Math.floor(model.contextTokens / 4)),
    // Same parameters as for the answer: providers may reject others.
    ...(options.reasoning && { reasoning: lowEffort(options.reasoning) }),
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
  }
  const { content, usage } = await playStep({
    model: model.model,
    options: call,
    listener: silent,
    signal,
    promptTokens,
    maxAttempts: options.maxAttempts,
    wait: options.wait,
    context: { model: model.name, provider: model.provider, modelIndex },
  })
  options.onUsage(usage)
  return content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim()
}

/** Questions of actions are small. */
function lowEffort(reasoning: NonNullable<QuestionOptions['reasoning']>): typeof reasoning {
  return reasoning === 'none' || reasoning === 'minimal' || reasoning === 'provider-default' ? reasoning : 'low'
}

/** A model that reasons first needs space for that and for the answer. */
const thoughtTokens = 2_000

const silent: StepListener = { onText: () => {}, onReasoning: () => {}, onCall: () => {}, onArguments: () => {} }

function tooSlow(): InlayError {
  return new InlayError('GATEWAY_TIMEOUT', { message: 'The model took too long to answer a question of an action.' })
}
