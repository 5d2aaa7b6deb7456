import { statfs } from 'node:fs/promises'
import { copiedTables, countRows, createProcessRecord, tableSizes, type AnyDatabase } from '@inlay/records'
import { createWorkspaceRecords } from '@inlay/server'
import { Kysely, sql } from 'kysely'
import { join } from 'node:path'
import { defaultDataFolder } from '../data-folder.ts'
import { engineAddresses, indexPlaceOf } from '../options/engines.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { configuredEmbedder } from '../parts/knowledge-parts.ts'
import { movedTables, type Stores } from '../parts/move-data.ts'
import { readMove } from '../parts/move-note.ts'
import { migrateAll } from '../parts/open-tables.ts'
import { processPresence } from '../process-presence.ts'
import { failed, ok, sentenceOf, type Finding } from './finding.ts'

export interface Side {
  readonly stores: Stores
  readonly options: InlayOptions
}

type MoveCheck = (from: Side, to: Side) => Promise<Finding | undefined>

/** Checks what a move needs. It only writes a value to the new storage of files, and removes it. */
export async function checkMove(from: Side, to: Side): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [check, run] of Object.entries(checks)) {
    const finding = await run(from, to).catch((error: unknown) => failed(check, sentenceOf(error)))
    findings.push(finding ?? ok(check, 'nothing is in the way'))
    // The others would fail for the same reason.
    if (check === 'Database' && finding) break
  }
  return findings
}

const checks: Readonly<Record<string, MoveCheck>> = {
  Database: async ({ stores: from }, { stores: to }) => {
    const check = 'Database'
    if (from.places.records === to.places.records)
      return failed(
        check,
        'the new settings have the same database',
        'To move only the index, start with the new INLAY_INDEX_URL, which is filled again.',
      )
    await sql`select 1`.execute(to.db)
    const [leaving, arriving] = await Promise.all([readMove(from.db), readMove(to.db)])
    if (leaving?.state === 'moved' && !arriving)
      return failed(check, `the data was moved to ${leaving.place}`, 'To go back to this one: inlay move --cancel.')
    if (leaving?.state === 'arriving') return failed(check, 'the data is not all here yet', 'Complete its move first.')
    const unfinished = arriving?.state === 'arriving' ? 'an unfinished move' : 'data that is moved elsewhere'
    const others = arriving ? [unfinished] : await heldIn(to.db)
    const holds = arriving && arriving.id === leaving?.id ? [] : others
    if (holds.length > 0)
      return failed(check, `the new database is not empty: ${holds.join(', ')}`, 'Name an empty one.')
    return (await isServed(to.db))
      ? failed(check, 'a server uses the new database', 'Stop it until the move is over.')
      : undefined
  },
  Index: async ({ stores: from }, { stores: to, options }) => {
    if (from.places.index === to.places.index) return undefined
    const { rows } = await spacesOf(from.db)
    const { state, identity } = (await to.index.inspect?.()) ?? {}
    if (state === 'present' && identity !== undefined && rows.every((space) => space.identity !== identity))
      return failed('Index', 'the new index is not empty', 'Name another one, or another INLAY_ENGINE_PREFIX.')
    const { database, index = database } = engineAddresses(options)
    if (indexPlaceOf(index ?? 'folder')?.engine !== 'pgvector' || rows.every(({ embedder }) => embedder === ''))
      return undefined
    return (await hasPgvector(index === database ? to.db : undefined))
      ? undefined
      : failed('Index', 'the new database lacks pgvector', 'Install it on the server, or set another INLAY_INDEX_URL.')
  },
  'Embedding model': async ({ stores: from }, { options: { embedder, dataFolder = defaultDataFolder } }) => {
    const { rows } = await spacesOf(from.db)
    // The length of its vectors is known here, and the new database has no tables yet.
    const workspace = createWorkspaceRecords({ db: from.db, now: Date.now })
    const { id: configured = '' } = (await configuredEmbedder(embedder, join(dataFolder, 'models'), workspace)) ?? {}
    const recorded = rows.at(-1)?.embedder ?? ''
    if (rows.length === 0 || recorded === configured) return undefined
    return failed(
      'Embedding model',
      `the documents use ${recorded || 'none'}, but the new settings specify ${configured || 'none'}`,
      'Move with the same one. Another can follow after the move: inlay reindex --embedder.',
    )
  },
  Files: async ({ stores: from }, { stores: to }) => {
    if (from.places.files === to.places.files) return undefined
    const key = 'files:move-check:0'
    await to.storage.setItemRaw(key, Uint8Array.of(1))
    const value = await to.storage.getItemRaw(key)
    await to.storage.removeItem(key)
    if (value instanceof Uint8Array && value.length === 1) return undefined
    return failed('Files', 'the new storage of files does not keep what is written', 'Check INLAY_FILES_URL.')
  },
  Secrets: async ({ options: from }, { options: to }) =>
    from.secretKey === to.secretKey
      ? undefined
      : failed(
          'Secrets',
          'the new settings have another INLAY_SECRET_KEY',
          'Keep it: stored keys are encrypted with it.',
        ),
  Space: async ({ stores: from }, { options: to }) => {
    const { database, index = database, files } = engineAddresses(to)
    if (database !== undefined && files !== undefined && index !== 'folder') return undefined
    const needed = database === undefined ? await bytesOf(from.db) : 0
    const { rows } = await sql<{ bytes: unknown }>`select sum(size_bytes) as bytes from inlay_files`.execute(from.db)
    const wanted = needed + (files === undefined ? Number(rows[0]?.bytes ?? 0) : 0)
    const { bavail, bsize } = await statfs(to.dataFolder ?? defaultDataFolder)
    if (bavail * bsize > 2 * wanted) return undefined
    const [free, least] = [bavail * bsize, 2 * wanted].map((bytes) => `${(bytes / 2 ** 30).toFixed(1)} GiB`)
    return failed('Space', `${free} free in the new data folder, and ${least} are needed`, 'Free some space.')
  },
}

/** Have rows after a start that nobody used. */
const tablesOfStarts = ['inlay_spaces', 'inlay_chat_processes']

/** Tables that have more rows than migrations put into new ones. */
async function heldIn(db: AnyDatabase): Promise<string[]> {
  const { nodeSqlite } = await import('@inlay/drivers/node-sqlite')
  const fresh: AnyDatabase = new Kysely({ dialect: nodeSqlite({ file: ':memory:' }) })
  try {
    await migrateAll(fresh, 'expand')
    const tables = new Set((await movedTables(fresh)).map(({ name }) => name))
    for (const name of tablesOfStarts) tables.delete(name)
    const held: string[] = []
    for (const table of (await movedTables(db)).filter(({ name }) => tables.has(name)))
      if ((await countRows(db, table)) > (await countRows(fresh, table))) held.push(table.name)
    return held
  } finally {
    await fresh.destroy()
  }
}

/** Whether a process of any version uses the database; false for one without tables. */
const isServed = async (db: AnyDatabase): Promise<boolean> =>
  (await copiedTables(db, (name) => name === 'inlay_processes')).length > 0 &&
  (await createProcessRecord(db, { presence: processPresence(), version: '', now: Date.now }).otherVersions()).length >
    0

const spacesOf = (db: AnyDatabase): Promise<{ rows: { identity: string | null; embedder: string }[] }> =>
  sql<{ identity: string | null; embedder: string }>`
    select identity, embedder from inlay_spaces order by number`.execute(db)

/** Whether the extension is there or can be created; true for another database, whose index says so when it is opened. */
async function hasPgvector(db: AnyDatabase | undefined): Promise<boolean> {
  if (db === undefined) return true
  const { rows } = await sql`select 1 from pg_available_extensions where name = 'vector'`.execute(db)
  return rows.length > 0
}

/** Bytes of the records: of the tables, or of the database file. */
async function bytesOf(db: AnyDatabase): Promise<number> {
  const sizes = await tableSizes(db)
  if (sizes.every(({ bytes }) => bytes !== null)) return sizes.reduce((sum, { bytes }) => sum + bytes!, 0)
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count, pragma_page_size`.execute(db)
  return rows[0]?.bytes ?? 0
}
