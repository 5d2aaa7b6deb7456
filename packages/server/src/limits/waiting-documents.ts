import type { Kysely } from 'kysely'
import type { Counted } from './usage-counters.ts'

/** Table of waiting documents that count towards a limit, for Kysely. */
export interface WaitingDocumentsTable {
  inlay_waiting_documents: {
    /** Scope of the share; prefixed with `reserved` for a reservation. */
    scope: string
    /** Id of the caller, or number of the key. */
    owner: string
    /** For a reservation, a generated id. */
    document_id: string
    /** Milliseconds since 1970 UTC. */
    added_at: number
  }
}

/** A share of the queue, limited for a caller, a key or everybody. */
export type Share = Pick<Counted, 'scope' | 'owner'>

/** A place in a share, held until its document is stored. */
export interface Reservation {
  readonly share: Share
  readonly id: string
}

/** The reservation if the share had room, and how many documents were waiting or being accepted. */
export interface Reserved {
  readonly reservation: Reservation | undefined
  readonly used: number
}

/**
 * Waiting documents by share, over all processes. Each document gets a reservation before it is stored, so all
 * processes together accept no more than a share holds. Documents count until removed.
 */
export interface WaitingDocuments {
  /** @param countMore counts documents of the share that are kept elsewhere */
  reserve(share: Share, limit: number, countMore?: () => Promise<number>): Promise<Reserved>
  /** Gives a reservation back. With the id of its document, that document counts as waiting from now on. */
  settle(reservation: Reservation, documentId?: string): Promise<void>
  /** Number of waiting documents, including reservations. */
  count(share: Share): Promise<number>
  /** Oldest first, starting at index `from`. */
  list(share: Share, range: { readonly from: number; readonly most: number }): Promise<readonly string[]>
  remove(share: Share, documentIds: readonly string[]): Promise<void>
  erase(ownerId: string): Promise<void>
  /** Writes pending changes. */
  close(): Promise<void>
}

interface Asking {
  readonly limit: number
  readonly countMore: (() => Promise<number>) | undefined
  readonly resolve: (reserved: Reserved) => void
  readonly reject: (error: unknown) => void
}

const maxInOneStatement = 1_000
/** Maximum time that reservations of a crashed process count. */
const reservationMs = 600_000

/** @param db with the tables of `migrateServer` */
export function createWaitingDocuments(db: Kysely<WaitingDocumentsTable>, now: () => number): WaitingDocuments {
  const askings = new Map<string, Asking[]>()
  const settling = new Set<Promise<void>>()

  const reservedOf = ({ scope, owner }: Share): Share => ({ scope: `reserved ${scope}` as Share['scope'], owner })

  /** Reserves first, then counts: of two concurrent processes, at least the later one sees both reservations. */
  async function reserveAll(share: Share, group: readonly Asking[]): Promise<void> {
    const ids = group.map(() => crypto.randomUUID())
    await insert(db, reservedOf(share), ids, now())
    const expired = now() - reservationMs
    const { count } = await db
      .selectFrom('inlay_waiting_documents')
      .select((of) => of.fn.countAll<number | string>().as('count'))
      .where('owner', '=', share.owner)
      .where((of) =>
        of.or([
          of('scope', '=', share.scope),
          of.and([of('scope', '=', reservedOf(share).scope), of('added_at', '>', expired)]),
        ]),
      )
      .executeTakeFirstOrThrow()
    // Counted after the reservations: a document that is stored meanwhile counts twice rather than not at all.
    const more = (await group[0]!.countMore?.()) ?? 0
    const refused: string[] = []
    let used = Number(count) + more - group.length
    const outcomes = group.map(({ limit, resolve }, at) => {
      const id = ids[at]!
      const isGranted = used < limit
      const before = used
      if (isGranted) used++
      else refused.push(id)
      return () => resolve({ reservation: isGranted ? { share, id } : undefined, used: before })
    })
    await remove(reservedOf(share), refused)
    for (const settle of outcomes) settle()
  }

  /** Requests that arrive while others are being handled are handled together. */
  async function work(key: string, share: Share): Promise<void> {
    const waiting = askings.get(key)!
    while (waiting.length > 0) {
      await Promise.resolve()
      const group = waiting.splice(0, maxInOneStatement)
      try {
        await reserveAll(share, group)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    askings.delete(key)
  }

  async function remove(share: Share, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    // Loaded here, so that a host that only mounts the server loads no database.
    const { isAmong } = await import('@inlay/records')
    await deleteFrom(db, share)
      .where(isAmong(db, 'document_id', ids))
      .execute()
  }

  return {
    reserve: (share, limit, countMore) =>
      new Promise((resolve, reject) => {
        const key = keyOf(share)
        const asking = { limit, countMore, resolve, reject }
        const known = askings.get(key)
        if (known) return void known.push(asking)
        askings.set(key, [asking])
        void work(key, share)
      }),
    settle: async ({ share, id }, documentId) => {
      const settled = db.transaction().execute(async (transaction) => {
        if (documentId !== undefined) await insert(transaction, share, [documentId], now())
        await deleteFrom(transaction, reservedOf(share)).where('document_id', '=', id).execute()
      })
      settling.add(settled)
      await settled.finally(() => settling.delete(settled))
    },
    count: async (share) => {
      const counted = db
        .selectFrom('inlay_waiting_documents')
        .select((of) => of.fn.countAll<number | string>().as('count'))
        .where('scope', 'in', [share.scope, reservedOf(share).scope])
        .where('owner', '=', share.owner)
      return Number((await counted.executeTakeFirstOrThrow()).count)
    },
    list: async ({ scope, owner }, { from, most }) => {
      const rows = await db
        .selectFrom('inlay_waiting_documents')
        .select('document_id')
        .where('scope', '=', scope)
        .where('owner', '=', owner)
        .orderBy('added_at')
        .orderBy('document_id')
        .limit(most)
        .offset(from)
        .execute()
      return rows.map((row) => row.document_id)
    },
    remove: async (share, documentIds) => {
      await remove(share, documentIds)
      const expired = now() - reservationMs
      await deleteFrom(db, reservedOf(share)).where('added_at', '<=', expired).execute()
    },
    erase: async (ownerId) => {
      const share: Share = { scope: 'caller', owner: ownerId }
      await db
        .deleteFrom('inlay_waiting_documents')
        .where('scope', 'in', [share.scope, reservedOf(share).scope])
        .where('owner', '=', ownerId)
        .execute()
    },
    close: async () => void (await Promise.allSettled(settling)),
  }
}

const keyOf = ({ scope, owner }: Share): string => `${scope} ${owner}`

function deleteFrom(db: Kysely<WaitingDocumentsTable>, { scope, owner }: Share) {
  return db.deleteFrom('inlay_waiting_documents').where('scope', '=', scope).where('owner', '=', owner)
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
