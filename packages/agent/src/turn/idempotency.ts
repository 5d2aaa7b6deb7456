import { InlayError } from '@inlay/protocol'
import type { Principal, SendMessageRequest } from '@inlay/protocol'
import type { RunStore } from '../contracts/run-store.ts'
import type { LiveRun, Runs } from '../run/registry.ts'
import { readStoredRun } from '../run/stored-run.ts'

/** A key of a caller, with the hash of the request that it was sent with. */
export interface SendKey {
  readonly key: string
  readonly bodyHash: string
}

/** What sends under a key need. */
export interface KeyedSendsOptions {
  readonly store: RunStore
  readonly runs: Runs
  readonly runBytes: number
  /** Sees to work that goes on after a run. */
  readonly follow: (work: Promise<void>) => void
}

/** Makes sends happen once: a repeat under the same key gets the run of the first, now or after a restart. */
export interface KeyedSends {
  /**
   * @param start starts the run of the first send; it stores the key with the messages
   * @throws CONFLICT for a key of another request, or while another process makes the run
   */
  once(
    idempotencyKey: string,
    request: SendMessageRequest,
    caller: Principal,
    start: (key: SendKey) => Promise<LiveRun>,
  ): Promise<LiveRun>
}

/** Sends under keys of one process. */
export function createKeyedSends({ store, runs, runBytes, follow }: KeyedSendsOptions): KeyedSends {
  // Sends that are on their way, so that a repeat waits for the first instead of racing it.
  const underway = new Map<string, Promise<unknown>>()

  const keepLines = async (run: LiveRun, caller: Principal, key: string): Promise<void> => {
    await run.ended
    const entries = run.log.entries()
    // Of a run too long to be held its answer is stored all the same.
    if (entries[0]?.sequence !== 1) return
    await store.complete(
      caller.id,
      key,
      entries.map(({ json }) => json),
    )
  }
  const repeat = async (caller: Principal, { key, bodyHash }: SendKey): Promise<LiveRun | undefined> => {
    const record = await store.find(caller.id, key)
    if (!record) return undefined
    if (record.bodyHash !== bodyHash) {
      throw new InlayError('CONFLICT', {
        message: 'This Idempotency-Key was used for another message: take a new key for a new message.',
      })
    }
    return runs.ofMessage(record.messageId) ?? (await readStoredRun(store, record, runBytes))
  }
  const sendOnce = async (
    caller: Principal,
    key: SendKey,
    start: (key: SendKey) => Promise<LiveRun>,
  ): Promise<LiveRun> => {
    const earlier = await repeat(caller, key)
    if (earlier) return earlier
    try {
      const run = await start(key)
      follow(keepLines(run, caller, key.key))
      return run
    } catch (error) {
      // Another process may have stored the key in the meantime.
      const other = await repeat(caller, key)
      if (other) return other
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

/** SHA-256 of a request, hexadecimal: the same for the same body, whatever its spacing or order of fields. */
async function hashRequest(request: SendMessageRequest): Promise<string> {
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
