import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import { runToolLoop } from '../model/tool-loop.ts'
import { userMessage } from '../prompt/history.ts'
import type { AnsweredCall, RequestedCall } from '../prompt/model-steps.ts'
import type { ResearchSetting } from './agent-state.ts'
import { addUnstreamedThought } from './research-agent.ts'
import { withInstructions } from './dialogue.ts'
import { demandCall, orchestratorInstructions, orchestratorReminder, type EarlyEnd } from './prompts.ts'
import { createReferences, type References } from './references.ts'
import type { PlayedStep } from './step.ts'
import { planTasks, runAgents, type ReportedTask } from './parallel-agents.ts'
import { agentTool, reportTool, researchToolNames, thinkTool } from './tools.ts'

/** State of a research run when its report is due. */
export interface Gathered {
  readonly turn: number
  readonly reports: readonly AdoptedReport[]
  readonly references: References
  /** Reasoning since the last agents; "" when there was none. */
  readonly thought: string
  readonly early: EarlyEnd | undefined
}

export interface AdoptedReport {
  readonly task: string
  /** Text with the citation numbers of the whole run, or the failure of the agent. */
  readonly text: string
}

interface OrchestratorState {
  readonly plan: string
  readonly conversation: LanguageModelV4Prompt
  readonly references: References
  cycle: number
  reasonedSteps: number
  agents: number
  /** Thoughts of steps that started no agent. */
  thought: string
  wasDemanded: boolean
  readonly reports: AdoptedReport[]
}

const defaultCycles = { reasoning: 4, other: 8 }

/**
 * @param firstTurn turn index of the first round
 * @throws UNKNOWN_ERROR when the model starts no agent, even when asked again
 */
export async function orchestrate(
  setting: ResearchSetting,
  { plan, firstTurn }: { plan: string; firstTurn: number },
  conversation: LanguageModelV4Prompt,
): Promise<Gathered> {
  const references = createReferences()
  const state: OrchestratorState = {
    plan,
    conversation,
    references,
    cycle: 0,
    reasonedSteps: 0,
    agents: 0,
    thought: '',
    wasDemanded: false,
    reports: [],
  }
  let early: EarlyEnd | undefined
  const turnOf = (): number => firstTurn + state.cycle + state.reasonedSteps
  await runToolLoop<Round>({
    prompt: conversation,
    play: async (exchanges) => {
      const cycles = setting.limits.maxCycles ?? (setting.model.reasons ? defaultCycles.reasoning : defaultCycles.other)
      early = earlyEnd(setting, state, cycles)
      if (early) return undefined
      const turn = turnOf()
      setting.writer.setTurn(turn)
      const round = await playRound(setting, state, cycles, turn, exchanges)
      if (!round) early = setting.budget.lacked()
      return round
    },
    run: async (calls, round) => {
      const isDue = calls.some(isReport)
      if (!calls.some(isAgent)) return takeThought(state, calls, round)
      const results = await delegate(setting, state, calls, round)
      advance(state, round)
      return isDue ? undefined : results
    },
  })
  return { turn: turnOf(), reports: state.reports, references, thought: state.thought, early }
}

interface Round extends PlayedStep {
  readonly thought: string
  readonly turn: number
}

const isAgent = ({ name }: RequestedCall): boolean => name === researchToolNames.agent
const isReport = ({ name }: RequestedCall): boolean => name === researchToolNames.report

/** Handles a round that started no agent; undefined when the report is due. */
function takeThought(
  state: OrchestratorState,
  calls: readonly RequestedCall[],
  round: Round,
): readonly AnsweredCall[] | undefined {
  state.thought = joined(state.thought, round.thought)
  const isThought = calls.some(({ name }) => name === researchToolNames.think)
  if (calls.some(isReport) || (!isThought && state.reports.length > 0)) {
    if (round.thought !== '') state.reasonedSteps++
    return undefined
  }
  if (!isThought && state.wasDemanded)
    throw new InlayError('UNKNOWN_ERROR', {
      message: 'The model started no research, also when asked again: choose a model that calls tools.',
    })
  state.wasDemanded ||= !isThought
  advance(state, round)
  return calls.map((call) => ({ ...call, result: 'Noted.' }))
}

function advance(state: OrchestratorState, { thought }: Round): void {
  state.cycle++
  if (thought !== '') state.reasonedSteps++
}

const joined = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n')

function earlyEnd(
  { budget, now, dueAt, limits }: ResearchSetting,
  { cycle, agents }: OrchestratorState,
  cycles: number,
): EarlyEnd | undefined {
  if (now() >= dueAt) return 'time'
  if (agents >= limits.maxAgents) return 'agents'
  // The last round writes the report. Without any agent there would be nothing to report.
  if (cycle >= Math.max(1, cycles - 1)) return 'cycles'
  return budget.exhausted()
}

async function playRound(
  { model, writer, limits, now, signal }: ResearchSetting,
  { plan, conversation, cycle, wasDemanded, reports }: OrchestratorState,
  cycles: number,
  turn: number,
  exchanges: readonly LanguageModelV4Message[],
): Promise<Round | undefined> {
  const canThink = !model.reasons
  const thoughts = writer.openThoughts({ turn, tab: 0, sub: null })
  const instructions = orchestratorInstructions(plan, limits.maxParallelAgents, canThink, now())
  const demand = wasDemanded && reports.length === 0 ? `\n${demandCall}` : ''
  try {
    const played = await model.play({
      phase: 'orchestrate',
      prompt: [...withInstructions(instructions, conversation), ...exchanges],
      reminder: [userMessage(`Instructions for this turn:\n${orchestratorReminder(cycle + 1, cycles)}${demand}`)],
      tools: [agentTool, ...(canThink ? [thinkTool] : []), reportTool],
      choice: 'required',
      listener: thoughts.listener,
      signal,
    })
    if (!played) return undefined
    addUnstreamedThought(thoughts, played)
    const thought = thoughts.text()
    return { ...played, thought, turn: thought === '' ? turn : turn + 1 }
  } finally {
    thoughts.end()
  }
}

async function delegate(
  setting: ResearchSetting,
  state: OrchestratorState,
  calls: readonly RequestedCall[],
  { thought, turn }: Round,
): Promise<readonly AnsweredCall[]> {
  const { writer, limits, forced } = setting
  const { references } = state
  const { tasks, refused } = planTasks(calls.filter(isAgent), limits.maxAgents - state.agents)
  writer.setTurn(turn)
  if (tasks.length > 1) {
    const branching = { type: 'top_level_branching', num_parallel_branches: tasks.length } as const
    writer.emit({ turn, tab: 0, sub: null }, branching)
  }
  const reported = await runAgents(tasks, {
    ...setting,
    forced: state.agents === 0 ? forced : undefined,
    turn,
    cycle: state.cycle,
    reasoning: joined(state.thought, thought) || null,
  })
  state.agents += tasks.length
  if (tasks.length > 0) state.thought = ''
  const adopted = reported.map((report) => ({ id: report.call.id, report: adopt(report, references) }))
  writer.setDocuments(references.documents())
  state.reports.push(...adopted.map(({ report }) => report))
  return calls.map((call): AnsweredCall => {
    const report = adopted.find(({ id }) => id === call.id)?.report.text
    const refusal = refused.find(({ id }) => id === call.id)?.result
    return { ...call, result: report ?? refusal ?? 'Noted.' }
  })
}

function adopt({ task, outcome }: ReportedTask, references: References): AdoptedReport {
  return { task, text: 'report' in outcome ? references.adopt(outcome.report) : outcome.failure }
}
