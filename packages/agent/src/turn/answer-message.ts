import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { AnswerParameters } from '../contracts/client-turn.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { isCiting } from '../citations/citing-actions.ts'
import { runToolLoop, addUsage } from '../model/tool-loop.ts'
import { userMessage } from '../prompt/history.ts'
import { decodeSteps, modelKey, type AnsweredCall, type RequestedCall } from '../prompt/model-steps.ts'
import { playStep } from '../model/retry-step.ts'
import { joinHistory } from '../actions/internal-search/joined-history.ts'
import type { StepRequest, StepResult } from '../model/step-output.ts'
import type { PacketWriter } from '../packet-writer.ts'
import { estimateTokens, maxPromptTokens, promptTokens } from '../prompt/context-window.ts'
import { planCalls, offerTools, type CallPlan } from '../tool-calls/call-plan.ts'
import type { DecidedCall } from '../tool-calls/approval.ts'
import {
  openCalls,
  handOver,
  requestApprovals,
  runCalls,
  type AnswerProgress,
  type CallSetting,
  type OpenCall,
} from '../tool-calls/run-tool-calls.ts'
import { isOfClient } from './client-turn.ts'
import type { FirstSearch } from './search-first.ts'
import type { OpenTurn, TurnAnswer, TurnParts } from './turn-parts.ts'

export interface AnswerMessageOptions {
  readonly turn: OpenTurn
  readonly parts: TurnParts
  readonly answer: TurnAnswer
  readonly writer: PacketWriter
  readonly setting: CallSetting
  /** System message, earlier messages and the newest user message, oldest first. */
  readonly prompt: LanguageModelV4Prompt
  readonly actions: readonly Action[]
  readonly firstSearch: FirstSearch | undefined
}

interface AnswerState {
  /** Number of the current step, from 0. */
  step: number
  /** No more calls are allowed: an action asked for the answer, or the model keeps repeating searches. */
  mustAnswer: boolean
  /** Searches that gave results, by name and arguments. */
  readonly searches: Set<string>
  /** Steps that only repeated searches. */
  repeatedSteps: number
  /** Tokens of the newest results that can be cited. */
  resultTokens: number
}

interface AnswerStep extends Omit<StepResult, 'usage'> {
  readonly isLast: boolean
  /** Actions the model could call in this step. */
  readonly offered: readonly Action[]
  readonly decided?: readonly DecidedCall[]
}

/** Answers one message: the model writes and calls actions until it has answered. Throws the model's failure. */
export async function answerMessage(options: AnswerMessageOptions): Promise<void> {
  const state: AnswerState = { step: -1, mustAnswer: false, searches: new Set(), repeatedSteps: 0, resultTokens: 0 }
  const { writer, actions, setting, prompt } = options
  const { client } = options.turn
  const { model, progress } = options.answer
  const { userMessage: question, messages = [] } = setting.turn
  writer.citable.question = joinHistory(question, messages) ?? question
  const windowTokens = maxPromptTokens(model.contextTokens, actions)
  await runToolLoop<AnswerStep>({
    prompt,
    play: (exchanges) => playNext([...prompt, ...exchanges], options, state),
    run: async (requested, step, exchanges) => {
      const { offered } = step
      progress.steps.push({ step: state.step, content: step.content, calls: requested })
      const plan = step.isLast ? noCalls : planCalls(requested, new Map(offered.map((action) => [action.name, action])))
      const repeated = plan.calls.filter((call) => state.searches.has(searchKey(call)))
      const fresh = plan.calls
        .filter((call) => !repeated.includes(call))
        .map((call) => ({ ...call, decision: step.decided?.[call.position]?.decision }))
      const hasNewCalls = fresh.length + plan.unknown.length > 0
      const isAnswer = !hasNewCalls && repeated.length === 0
      const cutNote = cutNotes[step.finishReason.unified]
      if (isAnswer && cutNote && client) progress.stopReason = stopReasons[step.finishReason.unified]
      else if (isAnswer && cutNote && writer.hasText()) writer.onText(cutNote)
      const { text } = writer.endStep()
      if (isAnswer && text.trim() === '' && !progress.stopReason) throw new InlayError('EMPTY_LLM_RESPONSE')
      if (isAnswer) return undefined
      const isSearch = fresh.every(({ action }) => action.builtIn === 'SearchTool')
      const { maxTokens, share } = isSearch ? searchResults : results
      const freeTokens = Math.min(
        windowTokens - promptTokens([...prompt, ...exchanges]),
        Math.min(maxTokens, model.contextTokens * share) / 0.8,
      )
      const opened = openCalls(fresh, requested.length - repeated.length, freeTokens, writer).map((call) => ({
        ...call,
        ...(model.takesImages && { pictures: [] }),
      }))
      const own = client ? opened.filter(({ action }) => !isOfClient(action)) : opened
      const running = await requestApprovals(own, setting, progress)
      const answered = await runCalls(running, setting, progress)
      // The answer ends, and goes on with the message that approves.
      if (running.length < own.length) return undefined
      noteResults(state, own, answered, repeated.length)
      const all = [
        ...answered,
        ...repeated.map(answerRepeated),
        ...plan.unknown.map((call) => refuseUnknown(call, offered)),
      ]
      if (own.length === opened.length) return all
      // The answer ends, and goes on with the request that has the results.
      const given = handOver(
        opened.filter(({ action }) => isOfClient(action)),
        requested,
        progress,
      )
      progress.stopReason = 'tool_calls'
      client?.pausedTurns.add({
        callerId: setting.turn.caller.id,
        model: modelKey(model),
        messages: [...client.messages, ...exchanges],
        content: step.content,
        calls: [...all, ...given],
        citable: writer.citable,
        documents: writer.gatheredDocuments(),
      })
      return undefined
    },
  })
}

/** Models read longer results badly, and every later step pays for them. The share is one of the context window. */
const results = { maxTokens: 10_000, share: 0.25 }
/** Passages come best first: those further down seldom hold an answer that the first ones do not. */
const searchResults = { maxTokens: 3_200, share: 0.25 }

const stopReasons: Readonly<Record<string, AnswerProgress['stopReason']>> = {
  length: 'length',
  'content-filter': 'content_filter',
}

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
): Promise<AnswerStep> {
  const { writer, firstSearch, turn } = options
  const { model, progress } = options.answer
  const { decided } = turn
  state.step++
  writer.beginStep()
  const isLast = state.step >= options.parts.maxSteps - 1 || state.mustAnswer
  const isFirst = state.step === 0 && !isLast
  const forced = isFirst ? turn.usable.forced : []
  const given = { content: [], finishReason: { unified: 'tool-calls', raw: undefined } } as const
  if (state.step === 0 && decided) return { ...given, isLast: false, decided, ...toStep(decided, options) }
  if (isFirst && firstSearch) return { ...given, calls: [firstSearch.call], isLast, offered: [firstSearch.action] }
  const offered = forced.length > 0 ? forced : options.actions
  const played = await playDespiteRefusal(toStepRequest(prompt, options, state, { isLast, offered }, forced), model)
  progress.usage = addUsage(progress.usage, played.usage)
  return { ...played, isLast, offered }
}

/**
 * Decided calls as those of a step, with the thoughts and signatures that their model wants back. A tool that took the name
 * of another one since counts as gone.
 */
function toStep(
  decided: readonly DecidedCall[],
  { actions, answer, turn }: AnswerMessageOptions,
): Pick<AnswerStep, 'calls' | 'offered' | 'content'> {
  const decidedSteps = decodeSteps(answer.model, turn.opened.messages.at(-1)?.modelSteps)
  const isOf = ({ decision }: DecidedCall, { id }: Partial<RequestedCall>): boolean => id === decision.tool_call_id
  return {
    content: decidedSteps.flatMap(({ content, calls }) =>
      calls.some((call) => decided.some((other) => isOf(other, call))) ? content : [],
    ),
    calls: decided.map((call) => {
      const { providerOptions } = decidedSteps.flatMap(({ calls }) => calls).find((other) => isOf(call, other)) ?? {}
      // A conversation may not have two calls of one id, so it gets another one.
      return {
        id: '',
        name: call.name,
        input: JSON.stringify(call.arguments),
        ...(providerOptions && { providerOptions }),
      }
    }),
    offered: actions.filter(({ id, name }) => decided.every((call) => call.name !== name || call.actionId === id)),
  }
}

/** Plays a step, once more without tools where the server turns out to refuse them. */
async function playDespiteRefusal(request: StepRequest, { observed }: ResolvedModel): Promise<StepResult> {
  const refusedBefore = observed?.refusesTools
  try {
    return await playStep(request)
  } catch (error) {
    const hasJustRefused = refusedBefore === false && observed?.refusesTools
    if (!hasJustRefused) throw error
    if (!request.forced) return playStep(request)
    const message = `The forced action ${request.forced.join(' or ')} cannot run: the server of this model takes no tools.`
    throw new InlayError('UNKNOWN_ERROR', { message, cause: error })
  }
}

function toStepRequest(
  prompt: LanguageModelV4Prompt,
  options: AnswerMessageOptions,
  state: AnswerState,
  { isLast, offered }: Pick<AnswerStep, 'isLast' | 'offered'>,
  forced: readonly Action[],
): StepRequest {
  const { turn, parts } = options
  const { model, modelIndex } = options.answer
  const { reasoning, client } = turn
  const { include_citations: includeCitations } = turn.request
  // After an action that asks for the answer, its result says what to do.
  const isOver =
    state.step > 0 && options.actions.length > 0 && (state.step >= parts.maxSteps - 1 || state.repeatedSteps > 1)
  const { temperature } = model
  const stepReminder = model.quotesOnly
    ? []
    : toStepReminder(isOver, includeCitations && state.resultTokens > longResultTokens)
  const { taskPrompt } = turn.context.persona
  const task = taskPrompt.trim() === '' ? [] : [userMessage(`Instructions to keep in mind:\n${taskPrompt}`)]
  const reminder = [...task, ...stepReminder]
  return {
    model: model.model,
    options: {
      prompt,
      ...(temperature === undefined ? {} : { temperature }),
      // Providers want the tools of the calls in a prompt, so the last step keeps them and forbids their use.
      ...(isLast && state.step === 0 ? {} : offerTools(offered, isLast ? 'none' : forced)),
      ...(reasoning && { reasoning }),
      ...toCallOptions(client?.parameters, model),
    },
    mayBeCut: client !== undefined,
    listener: options.writer,
    signal: options.setting.signal,
    promptTokens: maxPromptTokens(model.contextTokens, offered) - promptTokens(reminder),
    reminder,
    ...(forced.length > 0 ? { forced: forced.map(({ name }) => name) } : {}),
    streamed: new Map(offered.flatMap(({ name, streamedArguments: names }) => (names ? [[name, names] as const] : []))),
    maxAttempts: parts.maxModelAttempts,
    wait: parts.wait,
    context: { model: model.name, provider: model.provider, modelIndex },
    window: () => model.observed?.contextTokens,
  }
}

/** The parameters of an answer, within those of its model. */
function toCallOptions(
  { responseFormat, stopSequences, maxOutputTokens = Infinity, ...others }: AnswerParameters = {},
  model: ResolvedModel,
): Partial<LanguageModelV4CallOptions> {
  const mostTokens = Math.min(maxOutputTokens, model.maxOutputTokens ?? Infinity)
  const { schema, name, description } = responseFormat ?? {}
  return {
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)),
    ...(stopSequences && { stopSequences: [...stopSequences] }),
    ...(Number.isFinite(mostTokens) && { maxOutputTokens: mostTokens }),
    ...(responseFormat && {
      responseFormat: {
        type: 'json',
        ...(schema && { schema }),
        ...(name && { name }),
        ...(description && { description }),
      },
    }),
  }
}

/** Answers a call of an action that was not offered: the model reads which ones are; clients are not told. */
function refuseUnknown(call: RequestedCall, offered: readonly Action[]): AnsweredCall {
  const names = offered.map(({ name }) => name).join(', ')
  const rule = 'Call tools by their exact name only — never add prefixes, namespaces, or colons.'
  const result = `Tool "${call.name}" not found. Available tools: ${names}. ${rule}`
  // Providers refuse names with other characters.
  const name = call.name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown'
  return { ...call, name, input: '{}', result, isError: true }
}

/** @param isOver whether no tool can be called any more */
function toStepReminder(isOver: boolean, mustCite: boolean): LanguageModelV4Message[] {
  const texts = [...(isOver ? [lastStep] : []), ...(mustCite ? [cite] : [])]
  if (texts.length === 0) return []
  return [userMessage(`Instructions for this step:\n${texts.join('\n')}`)]
}

const lastStep =
  'Answer now: no tool can be called any more. Take facts from the results above, and say plainly what they do not tell.'
const cite =
  'Cite the results: behind each statement, put the number of its result (the field "document") in square brackets.'
// Behind this much text, models forget the instruction to cite.
const longResultTokens = 3_000
