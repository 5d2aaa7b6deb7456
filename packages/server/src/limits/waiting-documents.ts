import type { Kysely } from 'kysely'
import type { Counted } from './usage-counters.ts'

/** Table of waiting documents that count towards a limit, for Kysely. */
export interface WaitingDocumentsTable {
  inlay_waiting_documents: {
    scope: string
    /** Id of the caller, or number of the key. */
    owner: string
    document_id: string
    /** Milliseconds since 1970 UTC. */
    added_at: number
  }
}

/** A share of the queue, of a caller or key. */
export type Share = Pick<Counted, 'scope' | 'owner'>

/**
 * Waiting documents by share, over all processes. Each process writes its own once a second. They stay until removed.
 */
export interface WaitingDocuments {
  /** Number of waiting documents, at most a second old. */
  count(share: Share): Promise<number>
  add(share: Share, documentId: string): void
  /** Oldest first, starting at the given position. */
  list(share: Share, range: { readonly from: number; readonly most: number }): Promise<readonly string[]>
  remove(share: Share, documentIds: readonly string[]): Promise<void>
  erase(ownerId: string): Promise<void>
  /** Writes pending changes. */
  close(): Promise<void>
}

export interface WaitingDocumentsOptions {
  /** A database with the tables of `migrateServer`. */
  readonly db: Kysely<WaitingDocumentsTable>
  readonly now: () => number
  /** How often documents of other processes are read, in milliseconds. */
  readonly syncMs: number
}

interface Known {
  readonly share: Share
  count: number
  readAt: number
  readonly added: Set<string>
}

const mostInOneStatement = 1_000

export function createWaitingDocuments({ db, now, syncMs }: WaitingDocumentsOptions): WaitingDocuments {
  const shares = new Map<string, Known>()
  const knownOf = (share: Share): Known => {
    const known = shares.get(keyOf(share)) ?? { share, count: 0, readAt: -Infinity, added: new Set() }
    shares.set(keyOf(share), known)
    return known
  }
  const sync = async (share: Share): Promise<Known> => {
    const known = knownOf(share)
    for (let ids = [...known.added]; ids.length > 0; ids = ids.slice(mostInOneStatement)) {
      const part = ids.slice(0, mostInOneStatement)
      await insert(db, share, part, now())
      for (const id of part) known.added.delete(id)
    }
    const counted = rowsOf(db, share).select((of) => of.fn.countAll().as('count'))
    known.count = Number((await counted.executeTakeFirstOrThrow()).count)
    known.readAt = performance.now()
    return known
  }
  return {
    count: async (share) => {
      const known = knownOf(share)
      const isOld = performance.now() - known.readAt >= syncMs
      const { count, added } = isOld ? await sync(share) : known
      // Most callers usually have none.
      if (count + added.size === 0) shares.delete(keyOf(share))
      return count + added.size
    },
    add: (share, documentId) => void knownOf(share).added.add(documentId),
    list: async (share, { from, most }) => {
      await sync(share)
      const inOrder = rowsOf(db, share).select('document_id').orderBy('added_at').orderBy('document_id')
      const rows = await inOrder.limit(most).offset(from).execute()
      return rows.map((row) => row.document_id)
    },
    remove: async (share, documentIds) => {
      const { scope, owner } = share
      const rows = db.deleteFrom('inlay_waiting_documents').where('scope', '=', scope).where('owner', '=', owner)
      for (let at = 0; at < documentIds.length; at += mostInOneStatement)
        await rows.where('document_id', 'in', documentIds.slice(at, at + mostInOneStatement)).execute()
      await sync(share)
    },
    erase: async (ownerId) => {
      shares.delete(keyOf({ scope: 'caller', owner: ownerId }))
      const rows = db.deleteFrom('inlay_waiting_documents').where('scope', '=', 'caller')
      await rows.where('owner', '=', ownerId).execute()
    },
    close: async () => {
      for (const { share, added } of shares.values()) if (added.size > 0) await sync(share)
    },
  }
}

const keyOf = ({ scope, owner }: Share): string => `${scope} ${owner}`

function rowsOf(db: Kysely<WaitingDocumentsTable>, { scope, owner }: Share) {
  return db.selectFrom('inlay_waiting_documents').where('scope', '=', scope).where('owner', '=', owner)
}

async function insert(
  db: Kysely<WaitingDocumentsTable>,
  { scope, owner }: Share,
  documentIds: readonly string[],
  time: number,
): Promise<void> {
  await db
    .insertInto('inlay_waiting_documents')
    .values(documentIds.map((id) => ({ scope, owner, document_id: id, added_at: time })))
    .onConflict((conflict) => conflict.columns(['scope', 'owner', 'document_id']).doNothing())
    .execute()
}
