import type { SharedRun, SharedRuns } from '../contracts/shared-runs.ts'
import type { ToolCallDetail } from '@inlay/protocol'
import { createRun, type LiveRun } from './live-runs.ts'

/** Copies of runs of other processes that have readers in this process. */
export interface Copies {
  readonly runs: ReadonlyMap<number, LiveRun>
  /** A copy of a run, with all lines written so far. */
  of(run: SharedRun): Promise<LiveRun>
  catchUp(messageId: number): Promise<void>
  close(): void
}

export interface CopyOptions {
  readonly shared: SharedRuns
  readonly maxRunBytes: number
  readonly readCalls: (messageId: number) => Promise<readonly ToolCallDetail[]>
  /** Time after which a process without a sign of life counts as ended, in milliseconds. */
  readonly leaseMs: number
  readonly now: () => number
}

export function createCopies({ shared, maxRunBytes, readCalls, leaseMs, now }: CopyOptions): Copies {
  const copies = new Map<number, LiveRun>()
  const missingSince = new Map<number, number>()
  /** Whether the store lost a run that its process, if still alive, will write again. */
  const isMissing = async (messageId: number): Promise<boolean> => {
    const isForgotten = ((await shared.forgotten?.([messageId])) ?? []).length > 0
    if (!isForgotten) return false
    const since = missingSince.get(messageId) ?? now()
    missingSince.set(messageId, since)
    return now() - since < leaseMs
  }
  const catchUp = async (messageId: number): Promise<void> => {
    const copy = copies.get(messageId)
    while (copy && !copy.finished) {
      const cursor = copy.log.last
      const { entries, finished } = await shared.read(messageId, cursor)
      if (entries.length > 0) missingSince.delete(messageId)
      // A concurrent call may have read the same lines, and a run that outgrew its log may lack some.
      for (const { sequence, json } of entries) if (sequence === copy.log.last + 1) copy.log.append(json)
      if (finished && !(await isMissing(messageId))) {
        copies.delete(messageId)
        missingSince.delete(messageId)
        copy.end()
      }
      if (copy.log.last === cursor) return
    }
  }
  return {
    runs: copies,
    catchUp,
    of: async (run) => {
      const source = { repeatsEnd: true, readCalls: () => readCalls(run.messageId) }
      const copy = copies.get(run.messageId) ?? createRun(run, maxRunBytes, source)
      copies.set(run.messageId, copy)
      await catchUp(run.messageId)
      return copy
    },
    close: () => {
      for (const copy of copies.values()) copy.end()
    },
  }
}
