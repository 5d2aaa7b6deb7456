import type { AnsweredCall } from './dialogue.ts'
import { toObject } from './dialogue.ts'
import { runAgent, type AgentOptions, type AgentOutcome } from './agent.ts'
import type { RequestedCall } from '../model/text-tool-calls.ts'
import type { NumberedReport } from './references.ts'
import type { ResearchVoice } from './research-packets.ts'

/** A task that was asked for. */
export interface AskedTask {
  readonly call: RequestedCall
  readonly task: string
}

/** A task whose agent has reported. */
export interface ReportedTask {
  readonly call: RequestedCall
  readonly task: string
  readonly outcome: AgentOutcome
}

/** What becomes of the calls for agents of one round. */
export interface TaskPlan {
  readonly tasks: readonly AskedTask[]
  /** Calls that start no agent, with what the orchestrator is told. */
  readonly refused: readonly AnsweredCall[]
}

/** Decides which of the calls become agents: those with a task, each task once, and no more than `limit`. */
export function planTasks(calls: readonly RequestedCall[], limit: number): TaskPlan {
  const tasks: AskedTask[] = []
  const refused: AnsweredCall[] = []
  for (const call of calls) {
    const given = toObject(call.input)['task']
    const task = typeof given === 'string' ? given.trim() : ''
    if (task === '')
      refused.push({ ...call, result: 'Not started: the task is missing. Call the tool again with one.' })
    else if (tasks.some((other) => other.task.toLowerCase() === task.toLowerCase()))
      refused.push({ ...call, result: 'Not started: another agent of this round has the same task.' })
    else if (tasks.length >= limit)
      refused.push({ ...call, result: 'Not started: no more agents may be used in this research.' })
    else tasks.push({ call, task })
  }
  return { tasks, refused }
}

/** What all agents of a round share. */
export type TeamOptions = Omit<AgentOptions, 'task' | 'callId' | 'tab' | 'branch' | 'forced' | 'sendError'> & {
  readonly voice: ResearchVoice
  /** The search the first agent has to begin with. */
  readonly forced: AgentOptions['forced'] | undefined
}

/** Runs an agent for each task, a bounded number side by side. Gives the outcomes in the order of the tasks. */
export async function runTeam(tasks: readonly AskedTask[], options: TeamOptions): Promise<ReportedTask[]> {
  const { voice, limits, forced, ...shared } = options
  const outcomes: ReportedTask[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < tasks.length) {
      const tab = next++
      const asked = tasks[tab]
      if (!asked) return
      const branch = voice.branch()
      const outcome = await runAgent({
        ...shared,
        limits,
        task: asked.task,
        callId: asked.call.id,
        tab,
        branch,
        sendError: voice.send,
        ...(forced && tab === 0 ? { forced } : {}),
      })
      branch.close()
      outcomes[tab] = { ...asked, outcome }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limits.parallelAgents, tasks.length) }, work))
  return outcomes
}

/** Reports among outcomes. */
export function reportsIn(reported: readonly ReportedTask[]): NumberedReport[] {
  return reported.flatMap(({ outcome }) => ('report' in outcome ? [outcome.report] : []))
}
