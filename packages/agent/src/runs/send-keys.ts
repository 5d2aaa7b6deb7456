import type { SendMessageRequest } from '@inlay/protocol'
import type { AgentDatabase } from '../records/tables.ts'

/** A send that happened under a key. */
export interface SendKeyRecord {
  readonly bodyHash: string
  readonly sessionId: string
  readonly messageId: number
  readonly openedSession: boolean
  /** The run's lines; undefined while it runs, or when its process ended first. */
  readonly lines: readonly string[] | undefined
}

/** Remembers sends by their `Idempotency-Key`, each caller's apart. */
export interface SendKeys {
  /** The send of a key that is not older than its life. */
  find(ownerId: string, key: string): Promise<SendKeyRecord | undefined>
  /** Keeps the lines of a finished run with its key. */
  complete(ownerId: string, key: string, lines: readonly string[]): Promise<void>
}

/** Makes the memory of sends. The records themselves are stored with the messages they belong to. */
export function createSendKeys(options: {
  readonly db: AgentDatabase
  readonly now: () => number
  /** How long a key is remembered, in milliseconds. */
  readonly lifeMs: number
}): SendKeys {
  const { db, now, lifeMs } = options
  return {
    find: async (ownerId, key) => {
      await db
        .deleteFrom('inlay_chat_send_keys')
        .where('created_at', '<=', now() - lifeMs)
        .execute()
      const row = await db
        .selectFrom('inlay_chat_send_keys')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where('key', '=', key)
        .executeTakeFirst()
      if (!row) return undefined
      return {
        bodyHash: row.body_hash,
        sessionId: row.session_id,
        messageId: row.message_id,
        openedSession: row.opened_session === 1,
        lines: row.lines?.split('\n'),
      }
    },
    complete: async (ownerId, key, lines) => {
      await db
        .updateTable('inlay_chat_send_keys')
        .set({ lines: lines.join('\n') })
        .where('owner_id', '=', ownerId)
        .where('key', '=', key)
        .execute()
    },
  }
}

/** SHA-256 of a request, hexadecimal: the same for the same body, whatever its spacing or order of fields. */
export async function hashRequest(request: SendMessageRequest): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(sorted(request)))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
