import { InlayError } from '@inlay/protocol'
import type { Principal, SendMessageRequest, StreamLine } from '@inlay/protocol'
import type { RunStore, SendRecord } from '../contracts/run-store.ts'
import type { LiveRun, Runs } from '../run/live-runs.ts'
import type { RunSharing } from '../run/sharing.ts'
import { readStoredRun } from '../run/stored-run.ts'

/** A key of a caller, with the hash of its request. */
export interface SendKey {
  readonly key: string
  readonly bodyHash: string
  /** The answer of an earlier send that failed and may be retried. */
  readonly replaces?: number
}

/** A failed send that is retried: its question is answered again. */
export interface SendRetry {
  readonly sessionId: string
  /** The question. */
  readonly parentId: number | null
  /** Whether the first send opened the session, which the lines report again. */
  readonly openedSession: boolean
}

export interface KeyedSendsOptions {
  readonly store: RunStore
  readonly runs: Runs
  readonly maxRunBytes: number
  /** Finds the runs of other processes. */
  readonly sharing: Pick<RunSharing, 'ofMessage'> | undefined
}

/**
 * Makes sends idempotent: a repeat with the same key gets the run of the first send, even after a restart. If that run
 * failed and can be retried, the repeat starts a new run for the same question.
 */
export interface KeyedSends {
  /**
   * @param start starts the run of a send; it stores the key with the messages
   * @throws CONFLICT for a key of another request, or while another process owns the run and does not share it
   */
  once(
    idempotencyKey: string,
    request: Partial<SendMessageRequest>,
    caller: Principal,
    start: StartSend,
  ): Promise<LiveRun>
}

type StartSend = (key: SendKey, retry?: SendRetry) => Promise<LiveRun>

export function createKeyedSends({ store, runs, maxRunBytes, sharing }: KeyedSendsOptions): KeyedSends {
  // Sends in progress, so that a repeat waits for the first instead of racing it.
  const underway = new Map<string, Promise<unknown>>()

  const repeat = async (caller: Principal, { key, bodyHash }: SendKey): Promise<Repeat | undefined> => {
    const record = await store.find(caller.id, key)
    if (!record) return undefined
    if (record.bodyHash !== bodyHash) {
      throw new InlayError('CONFLICT', {
        message: 'This Idempotency-Key was used for another message: take a new key for a new message.',
      })
    }
    const { sessionId, messageId } = record
    const run =
      runs.ofMessage(messageId) ??
      (await sharing?.ofMessage(sessionId, messageId).catch(() => undefined)) ??
      (await readStoredRun(store, record, maxRunBytes))
    return { run, record }
  }
  const sendOnce = async (caller: Principal, key: SendKey, start: StartSend): Promise<LiveRun> => {
    const earlier = await repeat(caller, key)
    if (earlier && !isRetryable(earlier.run)) return earlier.run
    try {
      if (!earlier) return await start(key)
      const { messageId, sessionId, openedSession } = earlier.record
      const { parentId } = await store.answer(messageId)
      return await start({ ...key, replaces: messageId }, { sessionId, parentId, openedSession })
    } catch (error) {
      // Another process may have stored the key in the meantime.
      const other = await repeat(caller, key)
      if (other && other.record.messageId !== earlier?.record.messageId) return other.run
      throw error
    }
  }
  return {
    once: async (idempotencyKey, request, caller, start) => {
      const key = { key: idempotencyKey, bodyHash: await hashRequest(request) }
      const name = JSON.stringify([caller.id, idempotencyKey])
      while (underway.has(name)) await underway.get(name)?.catch(() => {})
      const run = sendOnce(caller, key, start)
      underway.set(name, run)
      return run.finally(() => underway.delete(name))
    },
  }
}

interface Repeat {
  readonly run: LiveRun
  readonly record: SendRecord
}

/** Whether a run ended with a failure that a retry may avoid. */
function isRetryable({ finished, log }: LiveRun): boolean {
  const last = log.newest()
  if (!finished || last === undefined) return false
  // Parsed from a line that Inlay wrote.
  const line = JSON.parse(last.json) as StreamLine
  return 'error' in line && line.is_retryable
}

/** SHA-256 of a request, hexadecimal: the same for the same body, regardless of whitespace and field order. */
async function hashRequest(request: Partial<SendMessageRequest>): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(sorted(request)))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
