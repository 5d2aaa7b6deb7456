import { toArguments, type AnsweredCall, type RequestedCall } from '../prompt/model-steps.ts'
import { mapConcurrent } from '@inlay/scheduling'
import { runAgent, type AgentOutcome } from './research-agent.ts'
import type { ResearchAgentOptions } from './agent-state.ts'
import type { ResearchWriter } from './research-packets.ts'

export interface RequestedTask {
  readonly call: RequestedCall
  readonly task: string
}

export interface ReportedTask {
  readonly call: RequestedCall
  readonly task: string
  readonly outcome: AgentOutcome
}

/** How the calls of one round are handled. */
export interface TaskPlan {
  readonly tasks: readonly RequestedTask[]
  /** Calls that start no agent, with the reason as their result. */
  readonly refused: readonly AnsweredCall[]
}

/** Decides which calls start agents: those with a task, each task once, at most `limit`. */
export function planTasks(calls: readonly RequestedCall[], limit: number): TaskPlan {
  const tasks: RequestedTask[] = []
  const refused: AnsweredCall[] = []
  for (const call of calls) {
    const argument = toArguments(call.input)['task']
    const task = typeof argument === 'string' ? argument.trim() : ''
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

/** Options that all agents of a round share. */
export type ParallelAgentsOptions = Omit<
  ResearchAgentOptions,
  'task' | 'callId' | 'tab' | 'branch' | 'forced' | 'emitError'
> & {
  readonly writer: ResearchWriter
  /** Search that the first agent has to begin with. */
  readonly forced: ResearchAgentOptions['forced'] | undefined
}

/** Runs an agent for each task, a limited number in parallel. Returns the outcomes in the order of the tasks. */
export async function runAgents(
  tasks: readonly RequestedTask[],
  options: ParallelAgentsOptions,
): Promise<ReportedTask[]> {
  const { writer, forced, ...shared } = options
  return mapConcurrent(tasks, shared.limits.maxParallelAgents, async ({ call, task }, tab): Promise<ReportedTask> => {
    const branch = writer.branch()
    const outcome = await runAgent({
      ...shared,
      task,
      callId: call.id,
      tab,
      branch,
      emitError: writer.emit,
      ...(forced && tab === 0 ? { forced } : {}),
    })
    branch.close()
    return { call, task, outcome }
  })
}
