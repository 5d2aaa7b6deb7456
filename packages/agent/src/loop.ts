import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { Usage } from '@inlay/protocol'
import { runCall, type CallRecord, type CallSetting, type OpenCall } from './calls.ts'
import { planCalls, type CallPlan } from './call-plan.ts'
import { estimateTokens, promptTokens } from './context-window.ts'
import type { Action, ResolvedModel } from './contracts.ts'
import type { FailureContext } from './failures.ts'
import { runMastra } from './mastra.ts'
import { playStep, type StepResult } from './model-step.ts'
import type { Narrator } from './narrate.ts'
import { tapModel } from './tap.ts'
import { addUsage, noUsage } from './usage.ts'

/** What an answer is made with. */
export interface LoopOptions {
  readonly model: ResolvedModel
  readonly modelIndex: number
  /** System message, earlier messages and the newest user message, oldest first. */
  readonly prompt: LanguageModelV4Prompt
  /** What the model may use. */
  readonly actions: readonly Action[]
  /** The action the first step has to use. */
  readonly forced?: Action
  readonly narrator: Narrator
  readonly setting: CallSetting
  /** Most model steps, at least 1; the last gets no actions. */
  readonly cycles: number
  readonly tries: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
}

/** An answer in the making: filled while the loop runs, so that it can be read at any moment. */
export interface LoopProgress {
  readonly calls: CallRecord[]
  usage: Usage
}

/** Answers one message: lets the model speak and use actions until it has answered. */
export async function runLoop(options: LoopOptions, progress: LoopProgress): Promise<void> {
  const conductor = createConductor(options, progress)
  const { model, actions, setting, cycles } = options
  const problem = await runMastra({
    model: tapModel(model.model, conductor.play),
    temperature: model.temperature,
    actions,
    runCall: conductor.runCall,
    steps: cycles,
    choiceOf: conductor.choiceOf,
    signal: setting.signal,
  })
  conductor.conclude(problem)
}

/** Leads the steps of one answer: hears the model, plans its calls, runs them. */
interface Conductor {
  choiceOf(step: number): 'any' | 'none' | { readonly forced: string }
  play(options: LanguageModelV4CallOptions): Promise<readonly LanguageModelV4StreamPart[]>
  runCall(id: string): Promise<string>
  /** Throws what the answer failed of, if it did. */
  conclude(problem: unknown): void
}

function createConductor(options: LoopOptions, progress: LoopProgress): Conductor {
  const { narrator, actions, forced, model, setting, cycles } = options
  const context: FailureContext = { model: model.name, provider: model.provider, modelIndex: options.modelIndex }
  const byName = new Map(actions.map((action) => [action.name, action]))
  const usedIds = new Set<string>()
  const limit = promptLimit(model.contextTokens, actions)
  let open = new Map<string, OpenCall>()
  let step = -1
  let mustAnswer = false
  let mayRecover = true
  let hasAnswered = false
  let failure: { readonly error: unknown } | undefined

  const play = async (request: LanguageModelV4CallOptions): Promise<readonly LanguageModelV4StreamPart[]> => {
    step++
    narrator.beginStep()
    const isLast = step >= cycles - 1 || mustAnswer
    const isForced = step === 0 && forced !== undefined && !isLast
    const prompt = [...options.prompt, ...ofThisRun(request.prompt)]
    const result = await playStep({
      model: model.model,
      options: { ...request, prompt },
      listener: narrator,
      signal: setting.signal,
      promptTokens: limit,
      ...(isForced ? { forced: forced.name } : {}),
      mayRecover: mayRecover && !isLast,
      tries: options.tries,
      wait: options.wait,
      context,
    })
    if (result.wasRecovered) mayRecover = false
    progress.usage = addUsage(progress.usage, result.usage)
    const { text } = narrator.endStep()
    const offered = isLast ? new Map<string, Action>() : isForced ? new Map([[forced.name, forced]]) : byName
    const plan = planCalls(result.calls, offered, usedIds)
    if (isLast || plan.calls.length + plan.unknown.length === 0) {
      if (text.trim() === '') throw new InlayError('EMPTY_LLM_RESPONSE')
      hasAnswered = true
      return toAgent(result, undefined)
    }
    openPlan(plan, result.calls.length, limit - promptTokens(prompt))
    return toAgent(result, plan)
  }

  const openPlan = (plan: CallPlan, requested: number, freeTokens: number): void => {
    const calls = plan.calls.map(({ action, position }) => ({ position, start: action.start?.() }))
    if (calls.length === 0) return
    const voices = narrator.openCalls(requested, calls)
    const ranges = openRanges(plan, narrator)
    const resultTokens = Math.max(500, Math.floor((freeTokens * 0.8) / calls.length))
    open = new Map(
      plan.calls.flatMap((call, index) => {
        const voice = voices[index]
        const range = ranges[index]
        return voice && range ? [[call.id, { ...call, voice, range, resultTokens }] as const] : []
      }),
    )
    mustAnswer = plan.calls.some(({ action }) => action.isLast === true)
  }

  return {
    choiceOf: (number) => {
      if (number >= cycles - 1 || mustAnswer) return 'none'
      return number === 0 && forced ? { forced: forced.name } : 'any'
    },
    play: async (request) => {
      try {
        return await play(request)
      } catch (error) {
        failure ??= { error }
        throw error
      }
    },
    runCall: async (id) => {
      const call = open.get(id)
      // Cannot happen: only calls of the plan are handed to the agent, each once.
      if (!call) return 'Tool failed with error: the call is not known.'
      open.delete(id)
      const record = await runCall(call, setting)
      progress.calls.push(record)
      return record.result
    },
    conclude: (problem) => {
      if (failure) throw failure.error
      if (problem !== undefined) throw problem
      if (!hasAnswered) throw new InlayError('EMPTY_LLM_RESPONSE')
    },
  }
}

/** What the agent added since the conversation: the model's own messages and the results of its calls. */
function ofThisRun(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1)
}

/** Tokens left for the prompt beside the answer and the descriptions of the actions. */
function promptLimit(contextTokens: number, actions: readonly Action[]): number {
  const described = actions.map(
    ({ name, description, input }) =>
      name + description + JSON.stringify(input['~standard'].jsonSchema.input({ target: 'draft-07' })),
  )
  const answerTokens = Math.min(4_096, Math.floor(contextTokens / 4))
  return contextTokens - answerTokens - estimateTokens(described.join('\n'))
}

const citingKinds = new Set(['SearchTool', 'WebSearchTool', 'OpenURLTool'])

/** Numbers of the step's calls: those that cite count first, so that the only search of a step starts at the next number. */
function openRanges(plan: CallPlan, narrator: Narrator): ReturnType<ReturnType<Narrator['citable']['openStep']>>[] {
  const openRange = narrator.citable.openStep()
  const isCiting = ({ isCiting, builtIn }: Action): boolean => isCiting ?? citingKinds.has(builtIn ?? '')
  const citing = plan.calls.filter(({ action }) => isCiting(action))
  const others = plan.calls.filter(({ action }) => !isCiting(action))
  const order = new Map([...citing, ...others].map((call, index) => [call, index]))
  return plan.calls.map((call) => openRange(order.get(call) ?? 0))
}

/** The step as the agent sees it: merged calls behind the text, and an end that says whether to go on. */
function toAgent(result: StepResult, plan: CallPlan | undefined): LanguageModelV4StreamPart[] {
  const calls: LanguageModelV4StreamPart[] = []
  for (const { id, action, input } of plan?.calls ?? []) {
    calls.push({ type: 'tool-call', toolCallId: id, toolName: action.name, input: JSON.stringify(input ?? {}) })
  }
  // Not offered: the agent tells the model that there is no such tool.
  for (const { id, name } of plan?.unknown ?? []) {
    calls.push({ type: 'tool-call', toolCallId: id, toolName: name, input: '{}' })
  }
  const unified = calls.length > 0 ? 'tool-calls' : 'stop'
  return [
    ...result.parts,
    ...calls,
    { type: 'finish', finishReason: { unified, raw: result.finishReason.raw }, usage: result.usage },
  ]
}

/** Progress of an answer that has not begun. */
export function newProgress(): LoopProgress {
  return { calls: [], usage: noUsage }
}
