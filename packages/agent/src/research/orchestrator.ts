import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { RequestedCall } from '../model/text-tool-calls.ts'
import { hearThought } from './agent.ts'
import { createCallIds, toExchange, userText, withInstructions, type AnsweredCall } from './dialogue.ts'
import { demandCall, orchestratorInstructions, orchestratorReminder, type EarlyEnd } from './prompts.ts'
import type { References } from './references.ts'
import type { PlayedStep } from './step.ts'
import { planTasks, runTeam, type ReportedTask } from './team.ts'
import { agentTool, reportTool, researchToolNames, thinkTool } from './tools.ts'
import type { ResearchSetting } from './research.ts'

/** What a research has gathered when its report is due. */
export interface Gathered {
  /** The turn of the report. */
  readonly turn: number
  readonly reports: readonly AdoptedReport[]
  readonly references: References
  /** What was thought since the last agents; "" when nothing was. */
  readonly thought: string
  /** What ended it before it was done. */
  readonly early: EarlyEnd | undefined
}

/** A report as the orchestrator and the writer read it. */
export interface AdoptedReport {
  readonly task: string
  /** With the numbers of the whole research; what went wrong when the agent failed. */
  readonly text: string
}

/** Where an orchestrator stands. */
interface OrchestratorState {
  cycle: number
  reasonedSteps: number
  agents: number
  /** Thoughts of steps that started no agent. */
  thought: string
  wasDemanded: boolean
  readonly exchanges: LanguageModelV4Message[]
  readonly reports: AdoptedReport[]
}

const defaultCycles = { reasoning: 4, other: 8 }

/**
 * Delegates until the plan is covered or a bound is reached.
 * @param firstTurn the turn of the first round
 * @throws UNKNOWN_ERROR when the model starts nothing, also when asked again
 */
export async function orchestrate(
  setting: ResearchSetting,
  { plan, firstTurn, conversation }: { plan: string; firstTurn: number; conversation: LanguageModelV4Prompt },
  references: References,
): Promise<Gathered> {
  const state: OrchestratorState = {
    cycle: 0,
    reasonedSteps: 0,
    agents: 0,
    thought: '',
    wasDemanded: false,
    exchanges: [],
    reports: [],
  }
  const toIds = createCallIds()
  const turnOf = (): number => firstTurn + state.cycle + state.reasonedSteps
  const gathered = (early?: EarlyEnd): Gathered => ({
    turn: turnOf(),
    reports: state.reports,
    references,
    thought: state.thought,
    early,
  })
  for (;;) {
    const cycles = setting.limits.cycles ?? (setting.model.reasons ? defaultCycles.reasoning : defaultCycles.other)
    const early = earlyEnd(setting, state, cycles)
    if (early) return gathered(early)
    const turn = turnOf()
    setting.voice.stand(turn)
    const step = await playRound(setting, state, { plan, cycles, conversation, turn })
    if (!step) return gathered(setting.budget.lacked())
    const { played, thought } = step
    const calls = toIds(played.calls)
    const asked = calls.filter(({ name }) => name === researchToolNames.agent)
    if (asked.length > 0) {
      const agentsTurn = thought === '' ? turn : turn + 1
      await delegate(setting, state, { asked, calls, played, thought, references, turn: agentsTurn })
      advance(state, thought)
      if (calls.some(isReport)) return gathered()
    } else if (!goesOn(state, calls, played, thought)) return gathered()
  }
}

const isReport = ({ name }: RequestedCall): boolean => name === researchToolNames.report

/** Takes in a round that started no agent; false when the report is due. */
function goesOn(
  state: OrchestratorState,
  calls: readonly RequestedCall[],
  played: PlayedStep,
  thought: string,
): boolean {
  state.thought = joined(state.thought, thought)
  const isThought = calls.some(({ name }) => name === researchToolNames.think)
  if (calls.some(isReport) || (!isThought && state.reports.length > 0)) {
    if (thought !== '') state.reasonedSteps++
    return false
  }
  if (!isThought && state.wasDemanded) throw startedNothing()
  state.wasDemanded ||= !isThought
  const noted = calls.map((call) => ({ ...call, result: 'Noted.' }))
  state.exchanges.push(...toExchange(played, noted))
  advance(state, thought)
  return true
}

function advance(state: OrchestratorState, thought: string): void {
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
  if (agents >= limits.agents) return 'agents'
  // The last round is the report's. Without any agent there would be nothing to report.
  if (cycle >= Math.max(1, cycles - 1)) return 'cycles'
  return budget.exhausted()
}

interface Round {
  readonly plan: string
  readonly cycles: number
  readonly conversation: LanguageModelV4Prompt
  readonly turn: number
}

async function playRound(
  { model, voice, limits, now, signal }: ResearchSetting,
  { exchanges, cycle, wasDemanded, reports }: OrchestratorState,
  { plan, cycles, conversation, turn }: Round,
): Promise<{ played: PlayedStep; thought: string } | undefined> {
  const canThink = !model.reasons
  const thinking = voice.think({ turn, tab: 0, sub: null })
  const instructions = orchestratorInstructions({ plan, parallelAgents: limits.parallelAgents, canThink, time: now() })
  const demand = wasDemanded && reports.length === 0 ? `\n${demandCall}` : ''
  try {
    const played = await model.play({
      phase: 'orchestrate',
      prompt: [...withInstructions(instructions, conversation), ...exchanges],
      reminder: [userText(`Instructions for this turn:\n${orchestratorReminder(cycle + 1, cycles)}${demand}`)],
      tools: [agentTool, ...(canThink ? [thinkTool] : []), reportTool],
      choice: 'required',
      listener: thinking.listener,
      signal,
    })
    if (!played) return undefined
    hearThought(thinking, played)
    return { played, thought: thinking.text() }
  } finally {
    thinking.end()
  }
}

interface Delegation {
  readonly asked: readonly RequestedCall[]
  readonly calls: readonly RequestedCall[]
  readonly played: PlayedStep
  readonly thought: string
  readonly references: References
  readonly turn: number
}

/** Runs the agents of a round and takes their reports in. */
async function delegate(setting: ResearchSetting, state: OrchestratorState, round: Delegation): Promise<void> {
  const { voice, limits, forced } = setting
  const { asked, calls, played, thought, references, turn } = round
  const { tasks, refused } = planTasks(asked, limits.agents - state.agents)
  voice.stand(turn)
  if (tasks.length > 1) {
    const branching = { type: 'top_level_branching', num_parallel_branches: tasks.length } as const
    voice.send({ turn, tab: 0, sub: null }, branching)
  }
  const reported = await runTeam(tasks, {
    ...setting,
    forced: state.agents === 0 ? forced : undefined,
    turn,
    cycle: state.cycle,
    reasoning: joined(state.thought, thought) || null,
  })
  state.agents += tasks.length
  if (tasks.length > 0) state.thought = ''
  const adopted = reported.map((one) => ({ id: one.call.id, report: adopt(one, references) }))
  voice.gather(references.documents())
  state.reports.push(...adopted.map(({ report }) => report))
  const results = calls.map((call): AnsweredCall => {
    const own = adopted.find(({ id }) => id === call.id)?.report.text
    const no = refused.find(({ id }) => id === call.id)?.result
    return { ...call, result: own ?? no ?? 'Noted.' }
  })
  state.exchanges.push(...toExchange(played, results))
}

function adopt({ task, outcome }: ReportedTask, references: References): AdoptedReport {
  return { task, text: 'report' in outcome ? references.adopt(outcome.report) : outcome.failure }
}

function startedNothing(): InlayError {
  return new InlayError('UNKNOWN_ERROR', {
    message: 'The model started no research, also when asked again: choose a model that calls tools.',
  })
}
