import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { Usage } from '@inlay/protocol'
import { runCall, type CallRecord, type CallSetting, type OpenCall } from '../tools/execution.ts'
import { planCalls, type CallPlan } from '../tools/call-plan.ts'
import { promptLimit, promptTokens } from '../prompt/context-window.ts'
import type { Action } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { runMastra, toCall, type StepChoice } from './mastra.ts'
import { playStep, type StepResult } from './step.ts'
import type { Narrator } from '../packets/packet-writer.ts'
import { tapModel } from './streaming-tap.ts'
import { addUsage, noUsage } from './usage.ts'

/** What an answer is made with. */
export interface LoopOptions {
  readonly model: ResolvedModel
  readonly modelIndex: number
  /** System message, earlier messages and the newest user message, oldest first. */
  readonly prompt: LanguageModelV4Prompt
  /** Said after everything else before each step. */
  readonly reminder: readonly LanguageModelV4Message[]
  readonly reasoning: LanguageModelV4CallOptions['reasoning']
  /** What the model may use. */
  readonly actions: readonly Action[]
  /** Actions of which the first step has to use one. Empty: it may do as it likes. */
  readonly forced: readonly Action[]
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

/** Answers one message: lets the model speak and use actions until it has answered. Throws what the model failed of. */
export async function runLoop(options: LoopOptions, progress: LoopProgress): Promise<void> {
  const { model, actions, cycles } = options
  const forcedNames = options.forced.map(({ name }) => name)
  const state: LoopState = {
    step: -1,
    offered: new Map(actions.map((action) => [action.name, action])),
    streamed: new Map(actions.flatMap(({ name, streamedArguments: some }) => (some ? [[name, some] as const] : []))),
    promptTokens: promptLimit(model.contextTokens, actions),
    usedIds: new Set(),
    open: new Map(),
    mustAnswer: false,
    mayRecover: true,
    hasAnswered: false,
  }
  const choiceOf = (step: number): StepChoice => {
    if (step >= cycles - 1 || state.mustAnswer) return 'none'
    return step === 0 && forcedNames.length > 0 ? { forced: forcedNames } : 'any'
  }
  // Played before there is an agent: its set-up takes longer than all the rest of a run, no token should wait for it,
  // and an answer that needs no action needs no agent either.
  const first = await playNext(toCall(model, actions, choiceOf(0)), options, state, progress)
  if (!state.hasAnswered) await goOn(first, choiceOf, options, state, progress)
  if (!state.hasAnswered) throw new InlayError('EMPTY_LLM_RESPONSE')
}

/** Lets the agent run the calls of the first step and play what follows. */
async function goOn(
  first: readonly LanguageModelV4StreamPart[],
  choiceOf: (step: number) => StepChoice,
  options: LoopOptions,
  state: LoopState,
  progress: LoopProgress,
): Promise<void> {
  const { model, actions, setting, cycles } = options
  let played: readonly LanguageModelV4StreamPart[] | undefined = first
  let failure: { readonly error: unknown } | undefined
  const problem = await runMastra({
    model: tapModel(model.model, async (request) => {
      const parts = played
      played = undefined
      try {
        return parts ?? (await playNext(request, options, state, progress))
      } catch (error) {
        failure ??= { error }
        throw error
      }
    }),
    temperature: model.temperature,
    actions,
    runCall: async (id) => {
      const call = state.open.get(id)
      // Cannot happen: only calls of the plan are handed to the agent, each once.
      if (!call) return 'Tool failed with error: the call is not known.'
      state.open.delete(id)
      const record = await runCall(call, setting)
      progress.calls.push(record)
      return record.result
    },
    steps: cycles,
    choiceOf,
    signal: setting.signal,
  })
  // What the tap saw is closer to the cause than what the agent made of it.
  if (failure) throw failure.error
  if (problem !== undefined) throw problem
}

/** Where a loop stands. */
interface LoopState {
  step: number
  readonly offered: ReadonlyMap<string, Action>
  /** Text arguments that clients see while they are written, by name of the action. */
  readonly streamed: ReadonlyMap<string, readonly string[]>
  /** Most tokens of a prompt. */
  readonly promptTokens: number
  readonly usedIds: Set<string>
  /** Calls of the step that wait for the agent to run them. */
  open: Map<string, OpenCall>
  /** An action said that the model has to answer now. */
  mustAnswer: boolean
  /** Calls written as text are turned into real ones once a run. */
  mayRecover: boolean
  hasAnswered: boolean
}

/** Plays the next step of the model and announces the calls it asks for. */
async function playNext(
  request: LanguageModelV4CallOptions,
  options: LoopOptions,
  state: LoopState,
  progress: LoopProgress,
): Promise<readonly LanguageModelV4StreamPart[]> {
  const { narrator, forced, model, setting, cycles } = options
  state.step++
  narrator.beginStep()
  const isLast = state.step >= cycles - 1 || state.mustAnswer
  const isForced = state.step === 0 && forced.length > 0 && !isLast
  const prompt = [...options.prompt, ...ofThisRun(request.prompt)]
  const result = await playStep({
    model: model.model,
    options: { ...request, prompt, ...(options.reasoning && { reasoning: options.reasoning }) },
    listener: narrator,
    signal: setting.signal,
    promptTokens: state.promptTokens - promptTokens(options.reminder),
    reminder: options.reminder,
    ...(isForced ? { forced: forced.map(({ name }) => name) } : {}),
    streamed: state.streamed,
    mayRecover: state.mayRecover && !isLast,
    tries: options.tries,
    wait: options.wait,
    context: { model: model.name, provider: model.provider, modelIndex: options.modelIndex },
  })
  if (result.wasRecovered) state.mayRecover = false
  progress.usage = addUsage(progress.usage, result.usage)
  const { text } = narrator.endStep()
  const offered = isForced ? new Map(forced.map((action) => [action.name, action])) : state.offered
  const plan = isLast ? noCalls : planCalls(result.calls, offered, state.usedIds)
  if (plan.calls.length + plan.unknown.length === 0) {
    if (text.trim() === '') throw new InlayError('EMPTY_LLM_RESPONSE')
    state.hasAnswered = true
  } else openPlan(plan, result.calls.length, state.promptTokens - promptTokens(prompt), narrator, state)
  return toAgent(result, plan)
}

const noCalls: CallPlan = { calls: [], unknown: [] }

/** Announces the calls of a plan and makes them ready to run. */
function openPlan(plan: CallPlan, requested: number, freeTokens: number, narrator: Narrator, state: LoopState): void {
  if (plan.calls.length === 0) return
  const starts = plan.calls.map(({ action, position }) => ({ position, start: action.start?.() }))
  const voices = narrator.openCalls(requested, starts)
  const ranges = openRanges(plan, narrator)
  // Some room is left for what the model says before it asks again.
  const resultTokens = Math.max(500, Math.floor((freeTokens * 0.8) / plan.calls.length))
  state.open = new Map(
    plan.calls.flatMap((call, index) => {
      const voice = voices[index]
      const range = ranges[index]
      return voice && range ? [[call.id, { ...call, voice, range, resultTokens }] as const] : []
    }),
  )
  state.mustAnswer = plan.calls.some(({ action }) => action.isLast === true)
}

/** What the agent added since the conversation: the model's own messages and the results of its calls. */
function ofThisRun(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1)
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
function toAgent(result: StepResult, plan: CallPlan): LanguageModelV4StreamPart[] {
  const calls: LanguageModelV4StreamPart[] = []
  for (const { id, action, input } of plan.calls) {
    calls.push({ type: 'tool-call', toolCallId: id, toolName: action.name, input: JSON.stringify(input ?? {}) })
  }
  // Not offered: the agent tells the model that there is no such tool.
  for (const { id, name } of plan.unknown) {
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
