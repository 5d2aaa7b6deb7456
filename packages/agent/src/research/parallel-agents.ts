import { toArguments, type AnsweredCall, type RequestedCall } from '../prompt/model-steps.ts'
import { mapConcurrent } from '@inlay/scheduling'
import { runAgent, type AgentOutcome } from './research-agent.ts'
import type { AgentRound } from './agent-state.ts'

export interface RequestedTask {
  readonly call: RequestedCall
  readonly task: string
}

export interface ReportedTask extends RequestedTask {
  readonly outcome: AgentOutcome
}

/** Calls with a task start agents, each task once, at most `limit`; the others are refused, with the reason. */
export function planTasks(
  calls: readonly RequestedCall[],
  limit: number,
): { readonly tasks: readonly RequestedTask[]; readonly refused: readonly AnsweredCall[] } {
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

/** Runs an agent for each task, a limited number in parallel. Returns the outcomes in the order of the tasks. */
export async function runAgents(tasks: readonly RequestedTask[], round: AgentRound): Promise<ReportedTask[]> {
  const { maxParallelAgents } = round.limits
  return mapConcurrent(tasks, maxParallelAgents, async ({ call, task }, tab): Promise<ReportedTask> => {
    const branch = round.writer.branch()
    const forced = tab === 0 ? round.forced : undefined
    const outcome = await runAgent({ ...round, forced, task, callId: call.id, tab, branch })
    branch.close()
    return { call, task, outcome }
  })
}
