import { InlayError } from '@inlay/protocol'
import type { Agent } from '../contracts/agent.ts'
import type { LiveRun, StopCause } from '../run/live-runs.ts'
import type { TurnParts } from './turn-parts.ts'

/** Resumes and stops runs of sessions, in this process and in others. */
export function runControl(
  { conversations, runs, sharing, clientTurns }: TurnParts,
  ready: () => Promise<void>,
): Pick<Agent, 'resume' | 'stop' | 'removeRuns' | 'currentRunId'> {
  const stopIn = async (sessionIds: readonly string[]): Promise<void> => {
    const local = sessionIds.flatMap((id) => runs.active(id))
    await Promise.all([stopAll(local, 'user'), sharing?.stop(sessionIds)])
  }
  return {
    resume: async (sessionId, caller) => {
      await ready()
      const session = await conversations.session(sessionId, caller.id)
      const local = runs.newest(session.id)
      const run = sharing ? await sharing.newest(session.id, local) : local
      if (run) return run
      throw new InlayError('NOT_FOUND', { message: 'This chat session has no run that could be resumed.' })
    },
    stop: async (sessionId, caller) => {
      await ready()
      // Only the caller knows the id of what is not stored.
      const unstored = clientTurns.runs.active(sessionId)
      if (unstored.length > 0) return stopAll(unstored, 'user')
      const session = await conversations.session(sessionId, caller.id)
      await stopIn([session.id])
      await conversations.cancelWaiting?.(session.id)
    },
    removeRuns: async (sessionIds) => {
      await stopIn(sessionIds)
      await sharing?.remove(sessionIds)
    },
    currentRunId: async (sessionId) => runs.active(sessionId).at(-1)?.runId ?? (await sharing?.currentRunId(sessionId)),
  }
}

/** Stops runs, and waits until each has ended. */
export async function stopAll(active: readonly LiveRun[], cause: StopCause): Promise<void> {
  for (const run of active) run.stop(cause)
  await Promise.all(active.map(({ ended }) => ended))
}
