import type { PacketBody, SearchDoc } from '@inlay/protocol'
import type { CitableDocuments } from '../citations/citable-documents.ts'
import { reportFailure, toFailure } from '../model/failures.ts'
import { toCallDetail } from '../tool-calls/call-detail.ts'
import type { ToolCallRecord } from '../contracts/conversation-store.ts'
import type { AnswerPlace, Branch } from './branch.ts'
import type { Action } from '../contracts/action.ts'
import type { CallSetting } from '../tool-calls/run-tool-calls.ts'
import type { ResearchBudget } from './budget.ts'
import type { KnownLimits } from './limits.ts'
import type { ResearchWriter } from './research-packets.ts'
import type { ResearchModel } from './step.ts'
import { researchToolNames } from './tools.ts'

export interface ResearchSetting {
  readonly model: ResearchModel
  readonly writer: ResearchWriter
  /** Searches of the run, at least one. */
  readonly actions: readonly Action[]
  /** Search that the first agent has to begin with. */
  readonly forced: Action | undefined
  readonly setting: CallSetting
  readonly signal: AbortSignal
  readonly limits: KnownLimits
  /** When the report of the whole run is due, in milliseconds since 1970 UTC. */
  readonly dueAt: number
  readonly now: () => number
  readonly budget: ResearchBudget
  /** Number of results left out of each report, in whole or in part, by the id of the call. */
  readonly cutResults: Map<string, number>
  /** Stores the call of an agent and those it made, once: when it ends or is cut off. */
  readonly store: (records: readonly ToolCallRecord[]) => void
}

export interface AgentRound extends ResearchSetting {
  /** Number of the round, from 0. */
  readonly cycle: number
  readonly turn: number
  /** Reasoning of the orchestrator before it; null when there was none. */
  readonly reasoning: string | null
}

export interface ResearchAgentOptions extends AgentRound {
  readonly task: string
  /** Id of the call that started it. */
  readonly callId: string
  readonly tab: number
  readonly branch: Branch
}

export interface Finding {
  readonly action: string
  readonly input: unknown
  readonly text: string
}

export interface AgentState {
  readonly place: AnswerPlace
  /** Aborts when the run is stopped, and when the agent takes too long. */
  readonly signal: AbortSignal
  readonly citable: CitableDocuments
  /** Rounds in which a tool was used, including the thinking tool. */
  steps: number
  reasonedSteps: number
  searches: number
  thoughtsInRow: number
  wasDemanded: boolean
  readonly findings: Finding[]
  readonly children: ToolCallRecord[]
  report: string
  cited: readonly SearchDoc[] | null
}

/** Stores the findings of an agent, even if it was cut off. */
export function recordAgent(options: ResearchAgentOptions, state: AgentState): void {
  const { report, cited } = state
  const packets: PacketBody[] =
    report === '' ? [] : [{ type: 'intermediate_report_start' }, { type: 'intermediate_report_delta', content: report }]
  const result = report === '' ? 'The agent was stopped before it reported.' : report
  store(options, state, { result, failed: false, packets, documents: cited })
}

/** Sends and stores an error packet; returns the text for the orchestrator. */
export function recordFailure(options: ResearchAgentOptions, state: AgentState, error: unknown): string {
  const { model, setting } = options
  const { code, message, retryable } = toFailure(error, { model: model.name })
  reportFailure(error, { model: model.name }, setting.onError)
  const packet: PacketBody = { type: 'error', exception: message, error_code: code, is_retryable: retryable }
  // The branch was closed.
  options.writer.emit(state.place, packet)
  const result = `The research agent failed: ${message}`
  store(options, state, { result, failed: true, packets: [packet], documents: null })
  return result
}

function store(
  options: ResearchAgentOptions,
  { children }: AgentState,
  end: Pick<ToolCallRecord, 'result' | 'failed' | 'packets' | 'documents'>,
): void {
  const { task, callId, turn, tab, cycle, reasoning, setting } = options
  const own: ToolCallRecord = {
    step: cycle,
    turnIndex: turn,
    tabIndex: tab,
    callId,
    actionId: 0,
    name: researchToolNames.agent,
    ...end,
    arguments: { task },
    reasoning,
    packets: [{ type: 'research_agent_start', research_task: task }, ...end.packets],
    images: null,
  }
  setting.onEnd(toCallDetail(own))
  options.store([own, ...children])
}
