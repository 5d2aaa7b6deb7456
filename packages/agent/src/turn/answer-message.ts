import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { mapConcurrent } from '../model/waiting.ts'
import type { AnsweredCall } from '../model/exchange.ts'
import { playStep } from '../model/step.ts'
import type { StepResult } from '../model/step-output.ts'
import { runToolLoop } from '../model/tool-loop.ts'
import { addUsage } from '../model/usage.ts'
import type { PacketWriter } from '../packets/packet-writer.ts'
import { promptLimit, promptTokens } from '../prompt/context-window.ts'
import { planCalls, type CallPlan } from '../tools/call-plan.ts'
import { runCall, type AnswerProgress, type CallRecord, type CallSetting, type OpenCall } from '../tools/execution.ts'
import { offerTools } from '../tools/function-tools.ts'

/** What a message is answered with. */
export interface AnswerMessageOptions {
  readonly model: ResolvedModel
  readonly modelIndex: number
  /** System message, earlier messages and the newest user message, oldest first. */
  readonly prompt: LanguageModelV4Prompt
  /** Follows everything else in each step. */
  readonly reminder: readonly LanguageModelV4Message[]
  readonly reasoning: LanguageModelV4CallOptions['reasoning']
  readonly actions: readonly Action[]
  /** Actions of which the first step has to call one. Empty: nothing is forced. */
  readonly forced: readonly Action[]
  readonly writer: PacketWriter
  readonly setting: CallSetting
  /** Most model steps, at least 1; the last gets no actions. */
  readonly cycles: number
  readonly tries: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
}

interface AnswerState {
  step: number
  /** An action asked for the answer, so no further calls are allowed. */
  mustAnswer: boolean
  /** Calls written as text become real ones once an answer. */
  mayRecover: boolean
}

interface AnswerStep extends StepResult {
  readonly isLast: boolean
  /** Actions the model could call in this step. */
  readonly offered: readonly Action[]
}

// A model that asks for more calls in one step gets them one after another.
const parallelCalls = 10

/** Answers one message: the model writes and calls actions until it has answered. Throws the model's failure. */
export async function answerMessage(options: AnswerMessageOptions, progress: AnswerProgress): Promise<void> {
  const state: AnswerState = { step: -1, mustAnswer: false, mayRecover: true }
  const { writer, model, actions, setting } = options
  const limitTokens = promptLimit(model.contextTokens, actions)
  await runToolLoop<AnswerStep>({
    play: (exchanges) => playNext([...options.prompt, ...exchanges], limitTokens, options, state, progress),
    run: async (requested, { offered, isLast }, exchanges) => {
      const { text } = writer.endStep()
      const plan = isLast ? noCalls : planCalls(requested, new Map(offered.map((action) => [action.name, action])))
      if (plan.calls.length + plan.unknown.length === 0) {
        if (text.trim() === '') throw new InlayError('EMPTY_LLM_RESPONSE')
        return undefined
      }
      const freeTokens = limitTokens - promptTokens([...options.prompt, ...exchanges])
      const opened = openCalls(plan, requested.length, freeTokens, writer)
      state.mustAnswer = opened.some(({ action }) => action.isLast === true)
      return [...(await runCalls(opened, setting, progress)), ...refuseUnknown(plan, offered)]
    },
  })
}

async function runCalls(
  calls: readonly OpenCall[],
  setting: CallSetting,
  progress: AnswerProgress,
): Promise<AnsweredCall[]> {
  const earlier = progress.calls.length
  const records: CallRecord[] = []
  const answered = await mapConcurrent(calls, parallelCalls, async (call, index): Promise<AnsweredCall> => {
    const record = await runCall(call, setting)
    records[index] = record
    // In the order of the calls, whichever ends first.
    progress.calls.splice(earlier, records.length, ...records.filter((known) => known !== undefined))
    return { ...call, name: call.action.name, input: JSON.stringify(call.input ?? {}), result: record.result }
  })
  setting.signal.throwIfAborted()
  return answered
}

const noCalls: CallPlan = { calls: [], unknown: [] }

async function playNext(
  prompt: LanguageModelV4Prompt,
  limitTokens: number,
  options: AnswerMessageOptions,
  state: AnswerState,
  progress: AnswerProgress,
): Promise<AnswerStep> {
  const { writer, model, setting, reminder, reasoning } = options
  state.step++
  writer.beginStep()
  const isLast = state.step >= options.cycles - 1 || state.mustAnswer
  const forced = state.step === 0 && !isLast ? options.forced : []
  const result = await playStep({
    model: model.model,
    options: {
      prompt,
      ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
      ...(isLast ? {} : offerTools(options.actions, forced)),
      ...(reasoning && { reasoning }),
    },
    listener: writer,
    signal: setting.signal,
    promptTokens: limitTokens - promptTokens(reminder),
    reminder,
    ...(forced.length > 0 ? { forced: forced.map(({ name }) => name) } : {}),
    streamed: streamedArguments(options.actions),
    mayRecover: state.mayRecover && !isLast,
    tries: options.tries,
    wait: options.wait,
    context: { model: model.name, provider: model.provider, modelIndex: options.modelIndex },
  })
  if (result.wasRecovered) state.mayRecover = false
  progress.usage = addUsage(progress.usage, result.usage)
  return { ...result, isLast, offered: forced.length > 0 ? forced : options.actions }
}

/** Text arguments that clients see while they are written, by name of the action. */
function streamedArguments(actions: readonly Action[]): ReadonlyMap<string, readonly string[]> {
  return new Map(actions.flatMap(({ name, streamedArguments: names }) => (names ? [[name, names] as const] : [])))
}

/** Announces the calls of a step and gives each its place, its citation numbers and its share of the prompt. */
function openCalls({ calls }: CallPlan, requested: number, freeTokens: number, writer: PacketWriter): OpenCall[] {
  if (calls.length === 0) return []
  const starts = calls.map(({ action, position }) => ({ position, start: action.start?.() }))
  const writers = writer.openCalls(requested, starts)
  const ranges = openRanges(calls, writer)
  // Some room is left for what the model writes before it asks again.
  const resultTokens = Math.max(500, Math.floor((freeTokens * 0.8) / calls.length))
  return calls.flatMap((call, index) => {
    const callWriter = writers[index]
    const range = ranges[index]
    return callWriter && range ? [{ ...call, writer: callWriter, range, resultTokens }] : []
  })
}

const citingKinds = new Set(['SearchTool', 'WebSearchTool', 'OpenURLTool'])

/** Numbers of the step's calls: those that cite count first, so that the only search of a step starts at the next number. */
function openRanges(calls: CallPlan['calls'], { citable }: PacketWriter): OpenCall['range'][] {
  const openRange = citable.openStep()
  const isCiting = ({ isCiting, builtIn }: Action): boolean => isCiting ?? citingKinds.has(builtIn ?? '')
  const citing = calls.filter(({ action }) => isCiting(action))
  const others = calls.filter(({ action }) => !isCiting(action))
  const order = new Map([...citing, ...others].map((call, index) => [call, index]))
  return calls.map((call) => openRange(order.get(call) ?? 0))
}

/** Calls of actions that were not offered: clients never see them, the model reads which names there are. */
function refuseUnknown({ unknown }: CallPlan, offered: readonly Action[]): AnsweredCall[] {
  const names = offered.map(({ name }) => name).join(', ')
  const rule = 'Call tools by their exact name only — never add prefixes, namespaces, or colons.'
  return unknown.map((call) => ({
    ...call,
    input: '{}',
    result: `Tool "${call.name}" not found. Available tools: ${names}. ${rule}`,
    isError: true,
  }))
}
