import type { SharedRun, SharedRuns } from '../contracts/shared-runs.ts'
import type { ToolCallDetail } from '@inlay/protocol'
import { createRun, type LiveRun } from './resumable-runs.ts'

/** Reads runs of other processes. */
export interface RunReading {
  /** A run of another process. */
  ofMessage(sessionId: string, messageId: number): Promise<LiveRun | undefined>
  /** The newest run of a session, of whichever process. @param local the newest one of this process */
  newest(sessionId: string, local: LiveRun | undefined): Promise<LiveRun | undefined>
}

/** Runs of other processes that somebody reads here. */
export interface Copies {
  readonly runs: ReadonlyMap<number, LiveRun>
  /** A run, read as far as it is. */
  of(run: SharedRun): Promise<LiveRun>
  /** Adds the lines that are new. */
  catchUp(messageId: number): Promise<void>
  close(): void
}

/** Options of copies. */
export interface CopyOptions {
  readonly shared: SharedRuns
  readonly runBytes: number
  /** Reads the calls of an answer that is stored. */
  readonly readCalls: (messageId: number) => Promise<readonly ToolCallDetail[]>
  /** How long a process may be silent, in milliseconds. */
  readonly leaseMs: number
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
}

export function createCopies({ shared, runBytes, readCalls, leaseMs, now }: CopyOptions): Copies {
  const copies = new Map<number, LiveRun>()
  const missingSince = new Map<number, number>()
  /** Whether the store has lost a run whose process will write it again, if it lives. */
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
      const { entries, finished } = await shared.read(messageId, copy.log.last)
      if (entries.length > 0) missingSince.delete(messageId)
      // Another call may have read the same lines meanwhile.
      for (const { sequence, json } of entries) if (sequence === copy.log.last + 1) copy.log.append(json)
      if (finished && !(await isMissing(messageId))) {
        copies.delete(messageId)
        missingSince.delete(messageId)
        copy.end()
      }
      if (entries.length === 0) return
    }
  }
  return {
    runs: copies,
    catchUp,
    of: async (run) => {
      const source = { repeatsEnd: true, readCalls: () => readCalls(run.messageId) }
      const copy = copies.get(run.messageId) ?? createRun(run, runBytes, source)
      copies.set(run.messageId, copy)
      await catchUp(run.messageId)
      return copy
    },
    close: () => {
      for (const copy of copies.values()) copy.end()
    },
  }
}

/** @param schedule sees to the lines that are still to come */
export function createReading(shared: SharedRuns, copies: Copies, schedule: () => void): RunReading {
  const read = async (run: SharedRun | undefined): Promise<LiveRun | undefined> => {
    const copy = run && (await copies.of(run))
    schedule()
    return copy
  }
  return {
    ofMessage: async (sessionId, messageId) =>
      read((await shared.ofSession(sessionId)).find((run) => run.messageId === messageId)),
    newest: async (sessionId, local) => {
      const last = (await orElse(shared.ofSession(sessionId), local && [])).at(-1)
      return last === undefined || (local && local.messageId >= last.messageId) ? local : read(last)
    },
  }
}

async function orElse<Value>(work: Promise<Value>, otherwise: Value | undefined): Promise<Value> {
  try {
    return await work
  } catch (error) {
    if (otherwise === undefined) throw error
    return otherwise
  }
}
