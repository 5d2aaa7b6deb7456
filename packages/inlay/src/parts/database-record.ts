import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { AnyDatabase } from '@inlay/records'
import { InlayError } from '@inlay/protocol'
import { sql } from 'kysely'
import * as v from 'valibot'
import { databaseFile, databaseRecordFile, filesFolder, indexFolder } from '../data-folder.ts'
import type { Closable } from './destroy-parts.ts'
import { holdsAnything } from './unused-data.ts'

/** What a database held at some time. */
const heldSchema = v.object({
  /** Of the database, which also stores it. */
  id: v.string(),
  /** Number of the last accepted version of a document; never decreases, whatever people delete. */
  revision: v.number(),
  documents: v.number(),
  sessions: v.number(),
  files: v.number(),
  /** ISO time. */
  at: v.string(),
})
export type Held = v.InferOutput<typeof heldSchema>

const recordSchema = v.object({
  /** Absent if the database was lost before there was a record. */
  held: v.optional(heldSchema),
  /** What was there instead; kept until the operator decides, however much the database grows meanwhile. */
  actual: v.optional(heldSchema),
})
export type HeldRecord = v.InferOutput<typeof recordSchema>

/** A record beside the database, by which its loss is noticed. */
export interface DatabaseRecord extends Closable {
  /** Tells the operator what was lost and what to do; undefined if nothing was, or if the operator accepted it. */
  loss(): string | undefined
  /** Accepts the database as it is. */
  accept(): Promise<void>
}

const lookEveryMs = 10_000
/** Looking takes at most this fraction (1/20) of the time. */
const restPerLook = 20

/** Whether there is no database in a data folder yet, or an empty file. */
export async function lacksDatabase(dataFolder: string): Promise<boolean> {
  const { size } = await stat(databaseFile(dataFolder)).catch(() => ({ size: 0 }))
  return size === 0
}

/** Needs the tables. @param options.isNew whether the database was missing or empty before it was opened */
export async function openDatabaseRecord(
  db: AnyDatabase,
  {
    dataFolder,
    isNew,
    onError,
  }: { readonly dataFolder: string; readonly isNew: boolean; readonly onError: (error: unknown) => void },
): Promise<DatabaseRecord> {
  const path = databaseRecordFile(dataFolder)
  const { id, isOurs } = await identify(db)
  const others = isNew && isOurs ? [filesFolder(dataFolder), indexFolder(dataFolder)] : []
  const isBesideData = (await Promise.all(others.map(holdsAnything))).includes(true)
  let loss: string | undefined
  let hasFailed = false

  const look = async (isFirst = false): Promise<void> => {
    // Read before the database: another process may write both meanwhile, in the other order.
    const record = await readRecord(path)
    const revision = await revisionOf(db)
    const { held, actual } = record
    if (held?.id === id && held.revision === revision && !actual) return void (loss = undefined)
    const now: Held = { id, revision, ...(await countsOf(db)), at: new Date().toISOString() }
    if (isFirst && isBesideData && !held && !actual) record.actual = now
    const message = describeLoss(record, now)
    loss = message
    if (message === undefined) await writeRecord(path, { held: now })
    else if (!record.actual || record.actual === now) await writeRecord(path, { ...record, actual: now })
  }
  /** Readiness and searches do not depend on the record. */
  const tryToLook = async (isFirst?: boolean): Promise<void> => {
    await look(isFirst).catch((error: unknown) => {
      if (!hasFailed) onError(error)
      hasFailed = true
    })
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  let looking: Promise<void> | undefined
  const lookLater = (tookMs: number): void => {
    timer = setTimeout(
      () => {
        const began = performance.now()
        looking = tryToLook().then(() => {
          if (timer) lookLater(performance.now() - began)
        })
      },
      Math.max(lookEveryMs, restPerLook * tookMs),
    ).unref()
  }

  await tryToLook(true)
  if (loss !== undefined)
    onError(new InlayError('CONFLICT', { message: loss, data: { reason: 'records_missing', isExpected: true } }))
  lookLater(0)
  return {
    loss: () => loss,
    accept: async () => {
      await rm(path, { force: true })
      await look()
    },
    close: async () => {
      clearTimeout(timer)
      timer = undefined
      await looking
      await tryToLook()
    },
  }
}

/** Describes what a database lacks by its record; undefined if it is the recorded one. */
export function describeLoss({ held, actual }: HeldRecord, now: Held): string | undefined {
  if (!held) return actual && `The database is new, but files or index of an earlier one are beside it. ${advice}`
  const isSame = now.id === held.id && now.revision >= held.revision
  // A database that lost changes may have reached the number again; another one that was put in place has gone.
  if (isSame && actual?.id !== held.id) return undefined
  const what = now.id === held.id ? 'The database lost changes' : 'The database was lost, emptied or replaced'
  return `${what}: on ${held.at} it held ${contentOf(held)}, and now ${contentOf(now)}. ${advice}`
}

const advice =
  'Nothing of the index and the files is removed. Stop Inlay and put the database or a backup in its place. To go on ' +
  'without what is lost, run inlay reindex, or delete the file database.json in the data folder.'

const contentOf = ({ documents, sessions, files, revision }: Held): string =>
  `${documents} documents, ${sessions} sessions and ${files} files (last revision ${revision})`

async function readRecord(path: string): Promise<HeldRecord> {
  const text = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') throw new Error(`The record of the database cannot be read (${code}).`)
    return '{}'
  })
  try {
    return v.parse(recordSchema, JSON.parse(text))
  } catch {
    // Of another version, or edited: the next one replaces it.
    return {}
  }
}

async function writeRecord(path: string, record: HeldRecord): Promise<void> {
  const partial = `${path}.${crypto.randomUUID()}~`
  try {
    await writeFile(partial, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true })
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** The id that the database stores; `isOurs` if this call stored it. */
async function identify(db: AnyDatabase): Promise<{ readonly id: string; readonly isOurs: boolean }> {
  const own = crypto.randomUUID()
  await sql`
    insert into inlay_figures (name, sampled_at, figures) values ('database', ${Date.now()}, ${own})
    on conflict (name) do nothing`.execute(db)
  const { rows } = await sql<{ id: string }>`
    select figures as id from inlay_figures where name = 'database'`.execute(db)
  const id = rows[0]?.id ?? own
  return { id, isOurs: id === own }
}

async function revisionOf(db: AnyDatabase): Promise<number> {
  const { rows } = await sql<{ value: unknown }>`
    select value from inlay_counters where name = 'revision'`.execute(db)
  return Number(rows[0]?.value)
}

async function countsOf(db: AnyDatabase): Promise<Pick<Held, 'documents' | 'sessions' | 'files'>> {
  const { rows } = await sql<Record<'documents' | 'sessions' | 'files', unknown>>`
    select (select count(*) from inlay_documents) as documents,
      (select count(*) from inlay_chat_sessions) as sessions,
      (select count(*) from inlay_files) as files`.execute(db)
  const { documents, sessions, files } = rows[0]!
  return { documents: Number(documents), sessions: Number(sessions), files: Number(files) }
}
