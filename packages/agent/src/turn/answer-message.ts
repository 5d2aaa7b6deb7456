import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { runToolLoop, addUsage, type AnsweredCall, type RequestedCall } from '../model/tool-loop.ts'
import { playStep } from '../model/retry-step.ts'
import type { StepRequest, StepResult } from '../model/step-output.ts'
import type { PacketWriter } from '../packets/packet-writer.ts'
import { estimateTokens, promptLimit, promptTokens } from '../prompt/context-window.ts'
import { planCalls, offerTools, type CallPlan } from '../tool-calls/call-plan.ts'
import {
  isCiting,
  openCalls,
  runCalls,
  type AnswerProgress,
  type CallSetting,
  type OpenCall,
} from '../tool-calls/run-tool-calls.ts'
import { toStepReminder } from './reminders.ts'
import { demandWords, searchStep, withGivenResults, withoutSearches, type AnswerGrounding } from './search-first.ts'

/** Options for answering a message. */
export interface AnswerMessageOptions {
  readonly model: ResolvedModel
  readonly modelIndex: number
  /** System message, earlier messages and the newest user message, oldest first. */
  readonly prompt: LanguageModelV4Prompt
  /** Follows everything else in each step. */
  readonly reminder: readonly LanguageModelV4Message[]
  readonly reasoning: LanguageModelV4CallOptions['reasoning']
  readonly grounding: AnswerGrounding
  /** Hears whether the model called a tool where it was free to; absent where nobody wants to know. */
  readonly onFirstStep: ((hasCalled: boolean) => void) | undefined
  readonly actions: readonly Action[]
  /** Actions of which the first step has to call one. Empty: nothing is forced. */
  readonly forced: readonly Action[]
  /** Whether the model is reminded to cite. */
  readonly includeCitations: boolean
  readonly writer: PacketWriter
  readonly setting: CallSetting
  /** Most model steps, at least 1; the last gets no actions. */
  readonly cycles: number
  readonly tries: number
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
}

interface AnswerState {
  step: number
  /** No further calls are allowed: an action asked for the answer, or the model goes in circles. */
  mustAnswer: boolean
  /** The search was made for the model, and none is offered. */
  isGiven: boolean
  /** Searches that gave results, by name and arguments. */
  readonly searches: Set<string>
  /** Steps that only repeated searches. */
  repeatedSteps: number
  /** Tokens of the newest results that can be cited. */
  resultTokens: number
}

interface AnswerStep extends StepResult {
  readonly isLast: boolean
  /** Actions the model could call in this step. */
  readonly offered: readonly Action[]
}

/** Answers one message: the model writes and calls actions until it has answered. Throws the model's failure. */
export async function answerMessage(options: AnswerMessageOptions, progress: AnswerProgress): Promise<void> {
  const state: AnswerState = {
    step: -1,
    mustAnswer: false,
    isGiven: false,
    searches: new Set(),
    repeatedSteps: 0,
    resultTokens: 0,
  }
  const { writer, model, actions, setting } = options
  writer.citable.question = setting.userMessage
  const limitTokens = promptLimit(model.contextTokens, actions)
  await runToolLoop<AnswerStep>({
    play: (exchanges) => playNext([...options.prompt, ...exchanges], options, state, progress),
    run: async (requested, step, exchanges) => {
      const { offered } = step
      const plan = step.isLast ? noCalls : planCalls(requested, new Map(offered.map((action) => [action.name, action])))
      const repeated = plan.calls.filter((call) => state.searches.has(searchKey(call)))
      const fresh = plan.calls.filter((call) => !repeated.includes(call))
      const hasText = step.content.some(({ type, text }) => type === 'text' && text.trim() !== '')
      // Text of a model that repeats a search is an echo, not a call.
      const isEcho = repeated.length > 0 && step.wasRecovered && hasText
      const isAnswer = fresh.length + plan.unknown.length === 0 && (repeated.length === 0 || isEcho)
      const cutNote = cutNotes[step.finishReason.unified]
      if (isAnswer && cutNote && writer.hasText()) writer.onText(cutNote)
      const { text } = writer.endStep()
      if (isAnswer && text.trim() === '') throw new InlayError('EMPTY_LLM_RESPONSE')
      if (isAnswer) return undefined
      const { mostTokens, share } = state.isGiven ? givenResults : results
      const freeTokens = Math.min(
        limitTokens - promptTokens([...options.prompt, ...exchanges]),
        Math.min(mostTokens, model.contextTokens * share) / 0.8,
      )
      const opened = openCalls(fresh, requested.length - repeated.length, freeTokens, writer)
      const answered = await runCalls(opened, setting, progress)
      noteResults(state, opened, answered, repeated.length)
      return [...answered, ...repeated.map(answerRepeated), ...plan.unknown.map((call) => refuseUnknown(call, offered))]
    },
  })
}

/** A result set beyond these is read badly, and costs with every step that follows. The share is one of the window. */
const results = { mostTokens: 10_000, share: 0.25 }
/** A model that calls no tools is a small one, which answers best from few passages. */
const givenResults = { mostTokens: 3_000, share: 0.15 }

const cutNotes: Readonly<Record<string, string>> = {
  length: '\n\n*The answer ends here because the model reached its output limit. Ask it to go on for the rest.*',
  'content-filter': "\n\n*The answer ends here because the model provider's content filter stopped it.*",
}

const searchKinds = new Set(['SearchTool', 'WebSearchTool'])

const searchKey = ({ action, input }: Pick<OpenCall, 'action' | 'input'>): string =>
  JSON.stringify([action.name, input])

function noteResults(
  state: AnswerState,
  calls: readonly OpenCall[],
  answered: readonly AnsweredCall[],
  repeated: number,
): void {
  state.resultTokens = 0
  for (const [index, call] of calls.entries()) {
    const { result = '' } = answered[index] ?? {}
    if (isCiting(call.action)) state.resultTokens += estimateTokens(result)
    const isSearch = searchKinds.has(call.action.builtIn ?? '') && !result.startsWith('Tool failed')
    if (isSearch) state.searches.add(searchKey(call))
  }
  if (calls.length === 0 && repeated > 0) state.repeatedSteps++
  state.mustAnswer = state.repeatedSteps > 1 || calls.some(({ action }) => action.isLast === true)
}

function answerRepeated({ action, ...call }: CallPlan['calls'][number]): AnsweredCall {
  const result = 'This search was made before: use its results above, or search with other words.'
  return { ...call, name: action.name, input: JSON.stringify(call.input ?? {}), result }
}

const noCalls: CallPlan = { calls: [], unknown: [] }

async function playNext(
  prompt: LanguageModelV4Prompt,
  options: AnswerMessageOptions,
  state: AnswerState,
  progress: AnswerProgress,
): Promise<AnswerStep> {
  const { writer, model, setting } = options
  state.step++
  // A model that only repeats the search made for it reads results better in its question than beside calls.
  if (options.grounding === 'search-first' && state.repeatedSteps > 0) state.isGiven = true
  writer.beginStep()
  const isLast = state.step >= options.cycles - 1 || state.mustAnswer
  const forced = state.step === 0 && !isLast ? options.forced : []
  const leftActions = state.isGiven ? withoutSearches(options.actions) : options.actions
  const offered = forced.length > 0 ? forced : leftActions
  const mayBeGiven = state.step === 0 && !isLast
  const planned = mayBeGiven && options.grounding !== 'tools' ? searchStep(offered, setting.userMessage) : undefined
  const given = (): AnswerStep | undefined => {
    const search = planned ?? (mayBeGiven ? searchStep(offered, setting.userMessage) : undefined)
    if (!search) return undefined
    state.isGiven = options.grounding !== 'search-first'
    writer.citable.completesCitations = true
    return { ...search, isLast, offered }
  }
  if (options.grounding === 'given' || options.grounding === 'search-first') {
    const step = given()
    if (step) return step
  }
  const isFree = mayBeGiven && forced.length === 0
  const isProbed = options.grounding === 'probe' && isFree && planned !== undefined
  const request = toStepRequest(prompt, options, state, { isLast, forced, offered, isProbed })
  const refusedBefore = model.observed?.refusesTools
  const result = await playStep(request).catch((error: unknown) => {
    if (refusedBefore !== false || !model.observed?.refusesTools) throw error
    return given() ?? playStep({ ...request, forced: undefined })
  })
  progress.usage = addUsage(progress.usage, result.usage)
  const hasCalled = result.calls.length > 0
  if (isFree && !state.isGiven) options.onFirstStep?.(hasCalled)
  const search = isProbed && !state.isGiven && !hasCalled ? given() : undefined
  return search ?? { ...result, isLast, offered }
}

interface StepBounds {
  readonly isLast: boolean
  readonly forced: readonly Action[]
  readonly offered: readonly Action[]
  readonly isProbed: boolean
}

function toStepRequest(
  prompt: LanguageModelV4Prompt,
  options: AnswerMessageOptions,
  state: AnswerState,
  { isLast, forced, offered, isProbed }: StepBounds,
): StepRequest {
  const { model, reasoning } = options
  // After an action that asks for the answer its result says what is to come.
  const isOver =
    state.step > 0 && options.actions.length > 0 && (state.step >= options.cycles - 1 || state.repeatedSteps > 1)
  const { includeCitations } = options
  // A small model that answers from results is to stay close to them.
  const { temperature = state.isGiven ? 0 : undefined } = model
  const stepReminder = model.quotesOnly ? [] : toStepReminder({ ...state, isOver, includeCitations })
  const reminder = [...options.reminder, ...stepReminder]
  return {
    model: model.model,
    options: {
      prompt,
      ...(temperature === undefined ? {} : { temperature }),
      // Calls in the prompt need their tools beside them, so the last step keeps them and forbids their use.
      ...(isLast && state.step === 0 ? {} : offerTools(offered, isLast ? 'none' : forced)),
      ...(reasoning && { reasoning }),
      ...(model.outputTokens === undefined ? {} : { maxOutputTokens: model.outputTokens }),
    },
    listener: options.writer,
    signal: options.setting.signal,
    promptTokens: promptLimit(model.contextTokens, offered) - promptTokens(reminder),
    reminder,
    ...(forced.length > 0 ? { forced: forced.map(({ name }) => name) } : {}),
    ...(isProbed && { probesTools: true }),
    ...(state.isGiven && {
      rewrite: (given) => withGivenResults(given, includeCitations),
      ifWordless: demandWords(includeCitations),
    }),
    streamed: new Map(offered.flatMap(({ name, streamedArguments: names }) => (names ? [[name, names] as const] : []))),
    isPlainText: model.quotesOnly,
    mayRecover: !isLast,
    tries: options.tries,
    wait: options.wait,
    context: { model: model.name, provider: model.provider, modelIndex: options.modelIndex },
    window: () => model.observed?.contextTokens,
  }
}

/** A call of an action that was not offered: clients never see it, the model reads which names there are. */
function refuseUnknown(call: RequestedCall, offered: readonly Action[]): AnsweredCall {
  const names = offered.map(({ name }) => name).join(', ')
  const rule = 'Call tools by their exact name only — never add prefixes, namespaces, or colons.'
  const result = `Tool "${call.name}" not found. Available tools: ${names}. ${rule}`
  // Providers refuse names with other characters.
  const name = call.name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown'
  return { ...call, name, input: '{}', result, isError: true }
}
