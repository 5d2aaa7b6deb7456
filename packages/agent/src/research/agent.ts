import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { PacketBody, SearchDoc } from '@inlay/protocol'
import { InlayError, isInlayError } from '@inlay/protocol'
import { createCallStage } from '../packets/call-packets.ts'
import { planCalls } from '../tools/call-plan.ts'
import { runCall, type CallRecord, type CallSetting } from '../tools/execution.ts'
import { createCitableDocuments } from '../citations/numbers.ts'
import { promptTokens } from '../prompt/context-window.ts'
import type { Action } from '../contracts/action.ts'
import { toFailure } from '../model/failures.ts'
import { toCall } from '../model/mastra.ts'
import { unlessAborted } from '../model/waiting.ts'
import type { Branch, Place, SendAt } from './branch.ts'
import { createCallIds, toExchange, userText, type AnsweredCall } from './dialogue.ts'
import type { KnownLimits } from './limits.ts'
import { agentInstructions, demandCall } from './prompts.ts'
import type { NumberedReport } from './references.ts'
import { writeReport, type Finding } from './report.ts'
import type { PlayedStep, ResearchModel } from './step.ts'
import { reportTool, researchToolNames, thinkTool } from './tools.ts'

/** What an agent works with. */
export interface AgentOptions {
  readonly task: string
  /** Id of the call that asked for it. */
  readonly callId: string
  readonly turn: number
  readonly tab: number
  /** Which round of the orchestrator asked for it, from 0. */
  readonly cycle: number
  /** What the orchestrator thought before it asked; null when nothing. */
  readonly reasoning: string | null
  readonly model: ResearchModel
  readonly branch: Branch
  /** Tells of a failure when the branch is silent already. */
  readonly sendError: SendAt
  /** The searches it may use. */
  readonly actions: readonly Action[]
  /** The search it has to begin with. */
  readonly forced?: Action
  readonly setting: CallSetting
  readonly limits: KnownLimits
  /** When the report of the whole research is due, in milliseconds since 1970 UTC. */
  readonly dueAt: number
  readonly now: () => number
  /** Takes the agent's call and those it made, once: when it ends, and also when it is cut off. */
  readonly store: (records: readonly CallRecord[]) => void
}

/** What became of an agent. */
export type AgentOutcome = { readonly report: NumberedReport } | { readonly failure: string }

/** Where an agent stands. */
interface AgentState {
  /** Rounds in which a tool was used, thinking included. */
  steps: number
  reasonedSteps: number
  searches: number
  thoughtsInRow: number
  wasDemanded: boolean
  readonly exchanges: LanguageModelV4Message[]
  readonly findings: Finding[]
  readonly children: CallRecord[]
  report: string
  cited: readonly SearchDoc[] | null
}

/**
 * Carries out one task: searches, then reports. What fails is told at the agent's place and given back as an outcome;
 * it rejects only when the run was stopped.
 */
export async function runAgent(options: AgentOptions): Promise<AgentOutcome> {
  const { task, branch, setting, limits } = options
  const place: Place = { turn: options.turn, tab: options.tab, sub: null }
  const state = newState()
  const hard = new AbortController()
  const timer = setTimeout(() => hard.abort(tooLong(limits.agentHardMs)), limits.agentHardMs)
  const signal = AbortSignal.any([setting.signal, hard.signal])
  branch.send(place, { type: 'research_agent_start', research_task: task })
  const forget = branch.whenClosed(() => {
    branch.send(place, { type: 'section_end' })
    keep(options, state)
  })
  try {
    const report = await unlessAborted(investigate(options, state, place, signal), signal)
    forget()
    branch.send(place, { type: 'intermediate_report_cited_docs', cited_docs: state.cited ?? [] })
    branch.send(place, { type: 'section_end' })
    keep(options, state)
    return { report }
  } catch (error) {
    if (setting.signal.aborted) throw error
    forget()
    branch.close()
    return { failure: fail(options, state, place, error) }
  } finally {
    clearTimeout(timer)
  }
}

function newState(): AgentState {
  return {
    steps: 0,
    reasonedSteps: 0,
    searches: 0,
    thoughtsInRow: 0,
    wasDemanded: false,
    exchanges: [],
    findings: [],
    children: [],
    report: '',
    cited: null,
  }
}

async function investigate(
  options: AgentOptions,
  state: AgentState,
  place: Place,
  signal: AbortSignal,
): Promise<NumberedReport> {
  const { limits, now, dueAt } = options
  const citable = createCitableDocuments()
  const toIds = createCallIds()
  const deadline = Math.min(now() + limits.agentTimeMs, dueAt)
  while (state.searches < limits.agentCycles && now() < deadline) {
    const step = await playOn(options, state, place, signal)
    if (!step) break
    const { played, thought, sub } = step
    const calls = toIds(played.calls)
    state.steps++
    const wanted = calls.find(({ name }) => name !== researchToolNames.think)
    if (wanted?.name === researchToolNames.report) break
    const isSearch = options.actions.some(({ name }) => name === wanted?.name)
    if (wanted && isSearch) {
      state.thoughtsInRow = 0
      const same = calls.filter(({ name }) => name === wanted.name)
      const found = await search(options, state, { ...place, sub }, { calls: same, thought, citable, signal })
      state.exchanges.push(...toExchange(played, [found]))
    } else if (calls.length > 0) {
      state.thoughtsInRow++
      state.exchanges.push(
        ...toExchange(
          played,
          calls.map((call) => ({ ...call, result: answerTo(call.name) })),
        ),
      )
    } else {
      // What was found before is enough for it.
      if (state.wasDemanded || state.searches > 0) break
      state.wasDemanded = true
      state.exchanges.push(...toExchange(played, []))
    }
    if (state.thoughtsInRow > 2 * limits.agentCycles) break
  }
  // A report of nothing would say that nothing is known.
  if (state.children.length > 0 && state.children.every(({ failed }) => failed)) throw allFailed()
  return writeReport({ ...options, findings: state.findings, known: citable.known, place, signal, state })
}

const mostResultTokens = 12_000

/** Room for a result: more results follow, and all of them are read again with each step. */
const resultTokensOf = (freeTokens: number): number =>
  Math.min(mostResultTokens, Math.max(500, Math.floor(freeTokens * 0.3)))

const answerTo = (name: string): string =>
  name === researchToolNames.think ? 'Noted.' : `There is no tool ${name}; use one that is offered.`

/** Plays the next step; undefined when the budget ends the search. */
async function playOn(
  { model, branch, actions, forced, task, limits, now }: AgentOptions,
  state: AgentState,
  place: Place,
  signal: AbortSignal,
): Promise<{ played: PlayedStep; thought: string; sub: number } | undefined> {
  const sub = state.steps + state.reasonedSteps
  // A model that only thinks gets nowhere.
  const canThink = !model.reasons && state.thoughtsInRow < 2
  const isForced = forced !== undefined && state.searches === 0
  const searches = actions.map(({ name }) => name)
  const thinking = branch.think({ ...place, sub })
  try {
    const played = await model.play({
      phase: 'agent',
      prompt: [
        {
          role: 'system',
          content: agentInstructions({ searches, canThink: !model.reasons, cycles: limits.agentCycles, time: now() }),
        },
        userText(task),
        ...state.exchanges,
      ],
      reminder: state.wasDemanded && state.searches === 0 ? [userText(demandCall)] : [],
      tools: [...(toCall({}, actions, 'any').tools ?? []), ...(canThink ? [thinkTool] : []), reportTool],
      choice: isForced ? { forced: forced.name } : 'required',
      listener: thinking.listener,
      signal,
    })
    if (!played) return undefined
    hearThought(thinking, played)
    const thought = thinking.text()
    if (thought !== '') state.reasonedSteps++
    return { played, thought, sub: thought === '' ? sub : sub + 1 }
  } finally {
    thinking.end()
  }
}

/** Takes a thought out of a call whose arguments did not stream. */
export function hearThought(thinking: ReturnType<Branch['think']>, { calls }: PlayedStep): void {
  if (thinking.heardTool()) return
  const texts = calls.filter(({ name }) => name === researchToolNames.think).map(({ input }) => thoughtIn(input))
  const thought = texts.filter((text) => text.trim() !== '').join('\n\n')
  if (thought !== '') thinking.listener.hearArguments(researchToolNames.think, { reasoning: thought })
}

function thoughtIn(input: string): string {
  try {
    const value: unknown = JSON.parse(input)
    const thought = typeof value === 'object' && value !== null ? Object.values(value)[0] : undefined
    return typeof thought === 'string' ? thought : ''
  } catch {
    return ''
  }
}

interface SearchStep {
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[]
  readonly thought: string
  readonly citable: ReturnType<typeof createCitableDocuments>
  readonly signal: AbortSignal
}

/** Runs the calls of one search as a single one. */
async function search(
  { actions, branch, setting, task, model, callId, cycle }: AgentOptions,
  state: AgentState,
  place: Place,
  { calls, thought, citable, signal }: SearchStep,
): Promise<AnsweredCall> {
  const first = calls[0] ?? { id: '', name: '', input: '' }
  const plan = planCalls(calls, new Map(actions.map((action) => [action.name, action])), new Set())
  const call = plan.calls[0]
  state.searches++
  if (!call) return { ...first, result: answerTo(first.name) }
  const stage = createCallStage((_turn, _tab, packet: PacketBody) => branch.send(place, packet))
  const forget = branch.whenClosed(stage.endAll)
  const at = { step: cycle, turnIndex: place.turn, firstTab: place.tab, reasoning: thought === '' ? null : thought }
  const [voice] = stage.open(at, 1, [{ position: 0, start: call.action.start?.() }])
  if (!voice) return { ...first, result: answerTo(first.name) }
  const free = model.promptTokens - promptTokens(state.exchanges)
  const record = await runCall(
    { ...call, id: first.id, voice, range: citable.openStep()(0), resultTokens: resultTokensOf(free) },
    {
      ...setting,
      userMessage: task,
      given: { ...setting.given, messages: [] },
      signal,
      onEnd: (detail) => setting.onEnd({ ...detail, sub_turn_index: place.sub }),
    },
  )
  forget()
  signal.throwIfAborted()
  state.children.push({ ...record, parentCallId: callId, ...(place.sub !== null && { subTurnIndex: place.sub }) })
  state.findings.push({ action: call.action.name, input: call.input, text: record.result })
  return { ...first, input: JSON.stringify(call.input ?? {}), result: record.result }
}

const packetsOf = ({ task }: AgentOptions, ...more: readonly PacketBody[]): readonly PacketBody[] => [
  { type: 'research_agent_start', research_task: task },
  ...more,
]

/** Stores what the agent found; of one that was cut off, what it has so far. */
function keep(options: AgentOptions, state: AgentState): void {
  const { report, cited } = state
  const told: PacketBody[] =
    report === '' ? [] : [{ type: 'intermediate_report_start' }, { type: 'intermediate_report_delta', content: report }]
  const result = report === '' ? 'The agent was stopped before it reported.' : report
  record(options, state, { result, failed: false, packets: packetsOf(options, ...told), cited })
}

function fail(options: AgentOptions, state: AgentState, place: Place, error: unknown): string {
  const { model, setting } = options
  const { code, message, retryable } = toFailure(error, { model: model.name })
  if (!isInlayError(error)) setting.onError(error)
  const packet: PacketBody = { type: 'error', exception: message, error_code: code, is_retryable: retryable }
  options.sendError(place, packet)
  const result = `The research agent failed: ${message}`
  record(options, state, { result, failed: true, packets: packetsOf(options, packet), cited: null })
  return result
}

function record(
  { task, callId, turn, tab, cycle, reasoning, setting, store }: AgentOptions,
  { children }: AgentState,
  end: { result: string; failed: boolean; packets: readonly PacketBody[]; cited: readonly SearchDoc[] | null },
): void {
  setting.onEnd({
    turn_index: turn,
    tab_index: tab,
    tool_name: researchToolNames.agent,
    tool_arguments: { task },
    tool_result: end.result,
    search_docs: end.cited,
    generated_images: null,
  })
  const own: CallRecord = {
    step: cycle,
    turnIndex: turn,
    tabIndex: tab,
    callId,
    actionId: 0,
    name: researchToolNames.agent,
    failed: end.failed,
    arguments: { task },
    result: end.result,
    reasoning,
    packets: end.packets,
    documents: end.cited,
    images: null,
  }
  store([own, ...children])
}

function allFailed(): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', { message: 'Every search of the research agent failed.' })
}

function tooLong(limitMs: number): InlayError {
  const minutes = Math.max(1, Math.round(limitMs / 60_000))
  return new InlayError('GATEWAY_TIMEOUT', { message: `The research agent took longer than ${minutes} minutes.` })
}
