import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { isInlayError } from '@inlay/protocol'
import { estimateTokens, promptTokens } from '../prompt/context-window.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { signsOf } from '../model/failure-signs.ts'
import { toFailure, type FailureContext } from '../model/failures.ts'
import { playStep } from '../model/retry-step.ts'
import type { StepListener, StepResult } from '../model/step-output.ts'
import type { ReasoningEffort } from '../model/override-precedence.ts'
import { addUsage, type LoopStep } from '../model/tool-loop.ts'
import type { AnswerProgress } from '../tool-calls/run-tool-calls.ts'
import type { Allowance, ResearchBudget, SpendingPhase } from './budget.ts'
import { streamedThought } from './tools.ts'

/** Kinds of model calls in a research run; a model that only quotes documents is told the kind. */
export type ResearchPhase = 'clarify' | 'plan' | 'orchestrate' | 'agent' | 'report' | 'final'

export interface ResearchStep {
  readonly phase: ResearchPhase
  readonly prompt: LanguageModelV4Prompt
  /** Creates the prompt so that it fits. Default: old messages and long results are left out. */
  readonly shorten?: (maxTokens: number) => LanguageModelV4Prompt
  /** Follows the prompt and is never left out. Default: nothing. */
  readonly reminder?: readonly LanguageModelV4Message[]
  readonly tools?: LanguageModelV4CallOptions['tools']
  /** `required`: some tool has to be called. A name: that tool has to be called. Default `auto`: the model decides. */
  readonly choice?: 'auto' | 'required' | { readonly forced: string }
  readonly listener: StepListener
  readonly signal: AbortSignal
}

export interface PlayedStep extends LoopStep {
  readonly text: string
}

/** The model of a research run. Steps may run in parallel. */
export interface ResearchModel {
  /** @returns undefined when the budget does not allow the step */
  play(step: ResearchStep): Promise<PlayedStep | undefined>
  /** Whether it was seen to reason by itself, so that it needs no thinking tool. */
  readonly reasons: boolean
  readonly name: string
  readonly compareCitations: ResolvedModel['compareCitations']
  /** Maximum tokens of a prompt. */
  readonly promptTokens: number
}

export interface ResearchModelOptions {
  readonly model: ResolvedModel
  readonly modelIndex: number
  readonly reasoning: ReasoningEffort | undefined
  readonly maxAttempts: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly budget: ResearchBudget
  readonly progress: AnswerProgress
}

const spending: Readonly<Record<ResearchPhase, SpendingPhase>> = {
  clarify: 'research',
  plan: 'research',
  orchestrate: 'research',
  agent: 'research',
  report: 'report',
  final: 'final',
}

// Expected maximum tokens of a step's output. Enforced under a budget, and in the short steps of models that do not
// reason.
const answerTokens: Readonly<Record<ResearchPhase, number>> = {
  clarify: 1_000,
  plan: 1_500,
  orchestrate: 2_048,
  agent: 2_048,
  report: 10_000,
  final: 20_000,
}

interface ModelState {
  /** Whether it accepts a tool choice that requires a call. */
  takesChoice: boolean
  reasons: boolean
}

export function createResearchModel(options: ResearchModelOptions): ResearchModel {
  const { model, reasoning, progress } = options
  const { contextTokens } = model
  const state: ModelState = { takesChoice: true, reasons: reasoning !== undefined && reasoning !== 'none' }
  return {
    name: model.name,
    compareCitations: model.compareCitations,
    promptTokens: contextTokens - Math.min(answerTokens.final, Math.floor(contextTokens / 4)),
    get reasons() {
      return state.reasons
    },
    play: async (step) => {
      const fitted = fitStep(step, options)
      if (!fitted) return undefined
      const { allowance, limit } = fitted
      try {
        const result = await playFitted(step, fitted, options, state)
        const { usage, content, calls } = result
        progress.usage = addUsage(progress.usage, usage)
        const hasReasoned = content.some(({ type }) => type === 'reasoning')
        state.reasons ||= hasReasoned || (usage.outputTokens.reasoning ?? 0) > 0
        const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
        const played = { calls, content, text }
        // A provider that reports no usage is charged by estimate.
        allowance.settle(usage.inputTokens.total ?? limit, usage.outputTokens.total ?? estimateOf(played))
        return played
      } catch (error) {
        // The cost of a failed call is unknown; at least its prompt was read.
        allowance.settle(Math.min(limit, allowance.promptTokens), 0)
        throw error
      }
    },
  }
}

/** A step cut to the context window and the budget. */
interface FittedStep {
  readonly prompt: LanguageModelV4Prompt
  /** Estimated tokens of the requested prompt. */
  readonly limit: number
  /** Maximum tokens of the prompt without its reminder. */
  readonly maxPromptTokens: number
  readonly allowance: Allowance
  /** Whether the budget allows less than was requested. */
  readonly isCut: boolean
}

function fitStep(step: ResearchStep, { model, budget }: ResearchModelOptions): FittedStep | undefined {
  const { phase, reminder = [], shorten = () => step.prompt } = step
  const expected = answerTokens[phase]
  const toolTokens = estimateTokens(JSON.stringify(step.tools ?? []))
  const room = model.contextTokens - Math.min(expected, Math.floor(model.contextTokens / 4)) - toolTokens
  const reminderTokens = promptTokens(reminder)
  const prompt = promptTokens(step.prompt) + reminderTokens > room ? shorten(room - reminderTokens) : step.prompt
  const limit = Math.min(room, promptTokens(prompt) + reminderTokens)
  const allowance = budget.allow(spending[phase], limit, expected)
  if (!allowance) return undefined
  const isCut = allowance.promptTokens + allowance.answerTokens < limit + expected
  const maxPromptTokens = (isCut ? allowance.promptTokens : room) - reminderTokens
  return { prompt: isCut ? shorten(maxPromptTokens) : prompt, limit, maxPromptTokens, allowance, isCut }
}

/** Plays a step, and again with another request when that can help. */
async function playFitted(
  step: ResearchStep,
  { prompt, limit, maxPromptTokens, allowance, isCut }: FittedStep,
  options: ResearchModelOptions,
  state: ModelState,
): Promise<StepResult> {
  const { model, modelIndex } = options
  const context = { model: model.name, provider: model.provider, modelIndex }
  // Short steps are capped, except for models that may reason first, since reasoning counts too.
  const isShort = step.phase === 'orchestrate' || step.phase === 'agent'
  const attempt = async (fitting: LanguageModelV4Prompt): Promise<StepResult> =>
    playStep({
      model: model.model,
      options: callOptions({ ...step, prompt: fitting }, options, {
        takesChoice: state.takesChoice,
        maxAnswerTokens: isCut || (isShort && !state.reasons) ? allowance.answerTokens : Infinity,
      }),
      listener: step.listener,
      signal: step.signal,
      promptTokens: maxPromptTokens,
      reminder: step.reminder ?? [],
      ...(typeof step.choice === 'object' ? { forced: [step.choice.forced] } : {}),
      streamed: streamedThought,
      maxAttempts: options.maxAttempts,
      wait: options.wait,
      context,
    })
  return attempt(prompt).catch((error: unknown) => {
    if (refusesChoice(error, context)) {
      state.takesChoice = false
      return attempt(prompt)
    }
    // Hidden reasoning used up the output limit, so the limit is lifted from now on.
    if (!isCut && !state.reasons && reachedOutputLimit(error)) {
      state.reasons = true
      return attempt(prompt)
    }
    // Estimates may be too low. What cannot be left out of a prompt can still be shortened.
    if (!step.shorten || toFailure(error, context).code !== 'CONTEXT_TOO_LONG') throw error
    return attempt(step.shorten(Math.floor(limit / 2)))
  })
}

function callOptions(
  { prompt, tools = [], choice }: ResearchStep,
  { model, reasoning }: ResearchModelOptions,
  { takesChoice, maxAnswerTokens }: { readonly takesChoice: boolean; readonly maxAnswerTokens: number },
): LanguageModelV4CallOptions {
  const maxOutputTokens = Math.min(maxAnswerTokens, model.maxOutputTokens ?? Infinity)
  const forced = typeof choice === 'object' ? choice.forced : undefined
  return {
    prompt,
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(maxOutputTokens < Infinity && { maxOutputTokens }),
    ...(reasoning && { reasoning }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.filter(({ name }) => forced === undefined || name === forced),
          toolChoice: takesChoice ? toChoice(choice) : { type: 'auto' },
        }),
  }
}

function toChoice(choice: ResearchStep['choice']): NonNullable<LanguageModelV4CallOptions['toolChoice']> {
  if (typeof choice === 'object') return { type: 'tool', toolName: choice.forced }
  return { type: choice === 'required' ? 'required' : 'auto' }
}

/** Whether a provider rejects a required tool call; some do so only while their model reasons. */
function refusesChoice(error: unknown, context: FailureContext): boolean {
  const { code } = toFailure(error, context)
  return (code === 'BAD_REQUEST' || code === 'UNPROCESSABLE_ENTITY') && /tool.?choice/i.test(signsOf(error).text)
}

/** Whether a step reached its output limit before any output. */
function reachedOutputLimit(error: unknown): boolean {
  if (!isInlayError(error) || error.code !== 'EMPTY_LLM_RESPONSE') return false
  return /length|max/i.test(JSON.stringify(error.data['details'] ?? {}))
}

const estimateOf = ({ text, calls }: PlayedStep): number =>
  estimateTokens(text + calls.map(({ input }) => input).join())
