import type { SharedRun, SharedRuns } from '@inlay/agent'
import {
  createSharedTransactions,
  hasRowLocks,
  idList,
  isAmong,
  isAmongIds,
  prepared,
  type ProcessPresence,
} from '@inlay/records'
import { sql, type Insertable, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { RunLinesTable, RunTable } from '../tables/chat-tables.ts'
import { idsOf, type ConversationTables } from '../tables/database.ts'
import { packLines, unpackLines } from './line-packing.ts'

export interface SqlSharedRunsOptions {
  /** Holds the tables that `migrateConversations` makes. */
  readonly db: Kysely<unknown>
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  /** Reports processes of this machine that have ended. Default: detected by silence. */
  readonly processes?: ProcessPresence | undefined
  /**
   * Hears notifications of Postgres, as the dialect of `@inlay/drivers/postgres` does. Default: changes are polled for.
   */
  readonly listen?: ListenToDatabase | undefined
}

/**
 * Calls back for each notification of a channel, with its payload, and without one when some may have been missed.
 * @returns ends it; undefined when nothing can be heard
 */
export type ListenToDatabase = (
  channel: string,
  onMessage: (payload?: string) => void,
) => Promise<(() => Promise<void>) | undefined>

const channel = 'inlay_runs'
/** Intervals at which running answers are written. SQLite blocks the thread while it waits for the disk. */
export const sharingTimes = { postgresMs: 40, sqliteMs: 100 } as const
/** Postgres takes payloads below 8000 bytes. */
const payloadChars = 7_000
/** Maximum number of batches per read. */
const readRows = 100

/**
 * Shares runs through the records' database: SQLite for processes of one machine, Postgres for any. With `listen`
 * changes are reported within milliseconds, else found by polling.
 */
export function sqlSharedRuns({ db: given, now, processes, listen }: SqlSharedRunsOptions): SharedRuns {
  const db = given.withTables<ConversationTables>()
  const owner = processes?.owner ?? crypto.randomUUID()

  const parts = { db, owner, now, processes }
  return {
    paceMs: hasRowLocks(db) ? sharingTimes.postgresMs : sharingTimes.sqliteMs,
    ...(processes &&
      !hasRowLocks(db) && {
        isAlone: async () => {
          const others = await otherProcesses(db, { owner })
          return others.every((other) => processes.isGone(other.owner))
        },
      }),
    ...createWriting(parts),
    ...createReading(db),
    ...createTaking(parts),
    removeFinished: async (ageMs) => removeRuns(db, await finishedBefore(db, { time: now() - ageMs })),
    remove: async (sessionIds) => {
      if (sessionIds.length > 0)
        await removeRuns(
          db,
          await runsIn(db)
            .where(isAmong(db, 'session_id', sessionIds))
            .execute(),
        )
    },
    subscribe: async (onChange) => {
      if (processes && !hasRowLocks(db)) await register(db, processes)
      return listen?.(channel, (payload) => onChange(payload ? payload.split(',').map(Number) : undefined))
    },
    close: async () => {
      if (hasRowLocks(db)) return
      // If the disk is full, the row stays. Other processes still detect that the process has ended.
      const own = db.deleteFrom('inlay_chat_processes').where('owner', '=', owner)
      await own.execute().catch(() => {})
    },
  }
}

const otherProcesses = prepared((db: Kysely<ConversationTables>, { owner }: { readonly owner: string }) =>
  db.selectFrom('inlay_chat_processes').select('owner').where('owner', '!=', owner),
)

/** Registers a process with those of the same machine, and removes those that crashed. */
async function register(db: Kysely<ConversationTables>, { owner, isGone }: ProcessPresence): Promise<void> {
  const rows = await db.selectFrom('inlay_chat_processes').select('owner').execute()
  const gone = rows.map((row) => row.owner).filter(isGone)
  await db.transaction().execute(async (records) => {
    if (gone.length > 0)
      await records
        .deleteFrom('inlay_chat_processes')
        .where(isAmong(db, 'owner', gone))
        .execute()
    await records
      .insertInto('inlay_chat_processes')
      .values({ owner })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

interface Parts extends Pick<SqlSharedRunsOptions, 'now' | 'processes'> {
  readonly db: Kysely<ConversationTables>
  readonly owner: string
}

function createWriting({ db, owner, now }: Parts): Pick<SharedRuns, 'open' | 'append'> {
  const writes = createSharedTransactions(db)
  const notifies = hasRowLocks(db)
  return {
    open: async ({ sessionId, messageId, runId, openedAt }) => {
      const row = { message_id: messageId, session_id: sessionId, run_id: runId, owner, opened_at: openedAt }
      await writes.run((records) => insertRun(records, { ...row, seen_at: now() }))
    },
    append: async (lines) => {
      if (lines.length === 0) return []
      return writes.run(async (records) => {
        // Renews the leases of this process's runs; those that are not renewed belong to another process now.
        const all = idList(
          records,
          lines.map(({ messageId }) => messageId),
        )
        const renewed = await renew(records, { of: all, owner, time: now() })
        const held = new Set(idsOf(renewed))
        const own = lines.filter(({ messageId }) => held.has(messageId))
        await addLines(records, own)
        const over = own.filter(({ finished }) => finished).map(({ messageId }) => messageId)
        if (over.length > 0) await finish(records, { of: idList(records, over) })
        const changed = own.filter(({ entries, finished }) => entries.length > 0 || finished)
        const ids = changed.map(({ messageId }) => messageId)
        if (notifies) await notify(records, ids)
        return lines.flatMap(({ messageId }) => (held.has(messageId) ? [] : [messageId]))
      })
    },
  }
}

type NewRun = Omit<Insertable<RunTable>, 'is_finished' | 'is_stopped'>

const insertRun = prepared((db: Kysely<ConversationTables>, run: NewRun) =>
  db
    .insertInto('inlay_chat_runs')
    .values({
      message_id: run.message_id,
      session_id: run.session_id,
      run_id: run.run_id,
      owner: run.owner,
      opened_at: run.opened_at,
      seen_at: run.seen_at,
      is_finished: 0,
      is_stopped: 0,
    })
    .onConflict((conflict) => conflict.column('message_id').doNothing()),
)

interface OfRuns {
  /** Their ids, see `idList`. */
  readonly of: string
}

const renew = prepared(
  (db: Kysely<ConversationTables>, { of, owner, time }: OfRuns & { readonly owner: string; readonly time: number }) =>
    db
      .updateTable('inlay_chat_runs')
      .set({ seen_at: time })
      .where(isAmongIds(db, 'message_id', of))
      .where('owner', '=', owner)
      .returning('message_id as id'),
)

const finish = prepared((db: Kysely<ConversationTables>, { of }: OfRuns) =>
  db
    .updateTable('inlay_chat_runs')
    .set({ is_finished: 1 })
    .where(isAmongIds(db, 'message_id', of)),
)

async function notify(records: Kysely<ConversationTables>, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const payload = ids.join()
  await sql`select pg_notify(${channel}, ${payload.length < payloadChars ? payload : ''})`.execute(records)
}

function createReading(db: Kysely<ConversationTables>): Pick<SharedRuns, 'ofSession' | 'read'> {
  return {
    ofSession: async (sessionId) => {
      const rows = await db
        .selectFrom('inlay_chat_runs')
        .selectAll()
        .where('session_id', '=', sessionId)
        .orderBy('message_id')
        .execute()
      return rows.map(toRun)
    },
    read: async (messageId, cursor) => {
      // Read before the lines, so that all lines of a finished run are included.
      const run = await db
        .selectFrom('inlay_chat_runs')
        .select('is_finished')
        .where('message_id', '=', messageId)
        .executeTakeFirst()
      const rows = await db
        .selectFrom('inlay_chat_run_lines')
        .select(['first', 'lines'])
        .where('message_id', '=', messageId)
        .where('last', '>', Math.min(cursor, 2 ** 31 - 1))
        .orderBy('first')
        .limit(readRows)
        .execute()
      const entries = rows.flatMap(({ first, lines }) =>
        unpackLines(lines).map((json, index) => ({ sequence: first + index, json })),
      )
      return {
        messageId,
        entries: entries.filter(({ sequence }) => sequence > cursor),
        finished: run?.is_finished !== 0 && rows.length < readRows,
      }
    },
  }
}

function createTaking({
  db,
  owner,
  now,
  processes,
}: Parts): Pick<SharedRuns, 'requestStop' | 'stopRequests' | 'takeAbandoned'> {
  return {
    requestStop: async (sessionIds) => {
      if (sessionIds.length === 0) return []
      const rows = await db
        .updateTable('inlay_chat_runs')
        .set({ is_stopped: 1 })
        .where(isAmong(db, 'session_id', sessionIds))
        .where('is_finished', '=', 0)
        .returning('message_id as id')
        .execute()
      const ids = idsOf(rows)
      if (hasRowLocks(db)) await notify(db, ids)
      return ids
    },
    stopRequests: async () => {
      const rows = await unfinished(db).where('owner', '=', owner).where('is_stopped', '=', 1).execute()
      return rows.map((row) => row.message_id)
    },
    takeAbandoned: async (leaseMs) => {
      const time = now()
      const rows = await unfinishedElsewhere(db, { owner })
      const isOfFuture = (row: Selectable<RunTable>): boolean => Number(row.seen_at) > time + leaseMs
      if (rows.some(isOfFuture))
        await db
          .updateTable('inlay_chat_runs')
          .set({ seen_at: time })
          .where('is_finished', '=', 0)
          .where('seen_at', '>', time + leaseMs)
          .execute()
      const isAbandoned = (row: Selectable<RunTable>): boolean =>
        Number(row.seen_at) <= time - leaseMs || processes?.isGone(row.owner) === true
      const taken: SharedRun[] = []
      for (const row of rows.filter(isAbandoned)) {
        const { numUpdatedRows } = await db
          .updateTable('inlay_chat_runs')
          .set({ owner, seen_at: now() })
          .where('message_id', '=', row.message_id)
          .where('owner', '=', row.owner)
          .where('seen_at', '=', row.seen_at)
          .where('is_finished', '=', 0)
          .executeTakeFirst()
        if (numUpdatedRows > 0n) taken.push(toRun(row))
      }
      return taken
    },
  }
}

async function addLines(
  records: Transaction<ConversationTables>,
  parts: Parameters<SharedRuns['append']>[0],
): Promise<void> {
  const rows = parts.flatMap(({ messageId, entries }) => {
    const [first, last] = [entries[0], entries.at(-1)]
    if (!first || !last) return []
    const lines = packLines(entries.map(({ json }) => json))
    return [{ message_id: messageId, first: first.sequence, last: last.sequence, lines }]
  })
  if (rows.length === 0) return
  // SQLite is no round trip away, and building a statement of many rows costs more than running it for each.
  if (hasRowLocks(records)) await insertLines(records, rows).execute()
  else for (const row of rows) await insertRow(records, row)
}

const insertLines = (db: Kysely<ConversationTables>, rows: Insertable<RunLinesTable>[]) =>
  db
    .insertInto('inlay_chat_run_lines')
    .values(rows)
    // An earlier write succeeded without a response, and there are more lines now.
    .onConflict((conflict) =>
      conflict.columns(['message_id', 'first']).doUpdateSet(({ ref }) => ({
        last: ref('excluded.last'),
        lines: ref('excluded.lines'),
      })),
    )

const insertRow = prepared(
  (db: Kysely<ConversationTables>, { message_id, first, last, lines }: Insertable<RunLinesTable>) =>
    insertLines(db, [{ message_id, first, last, lines }]),
)

const unfinished = (db: Kysely<ConversationTables>) =>
  db.selectFrom('inlay_chat_runs').selectAll().where('is_finished', '=', 0)

const unfinishedElsewhere = prepared((db: Kysely<ConversationTables>, { owner }: { readonly owner: string }) =>
  unfinished(db).where('owner', '!=', owner),
)

const runsIn = (db: Kysely<ConversationTables>) => db.selectFrom('inlay_chat_runs').select('message_id')

const finishedBefore = prepared((db: Kysely<ConversationTables>, { time }: { readonly time: number }) =>
  runsIn(db).where('is_finished', '=', 1).where('seen_at', '<=', time),
)

async function removeRuns(
  db: Kysely<ConversationTables>,
  rows: readonly Pick<RunTable, 'message_id'>[],
): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map((row) => row.message_id)
  await db.transaction().execute(async (records) => {
    await records
      .deleteFrom('inlay_chat_run_lines')
      .where(isAmong(records, 'message_id', ids))
      .execute()
    await records
      .deleteFrom('inlay_chat_runs')
      .where(isAmong(records, 'message_id', ids))
      .execute()
  })
}

function toRun(row: Selectable<RunTable>): SharedRun {
  return {
    sessionId: row.session_id,
    messageId: row.message_id,
    runId: row.run_id,
    openedAt: Number(row.opened_at),
    finished: row.is_finished === 1,
  }
}
