import { join } from 'node:path'
import type { IndexCondition } from '@inlay/knowledge'
import type { Connection, Session, Table } from '@lancedb/lancedb'
import { readThrough } from './condition.ts'
import { guarded, isMiss, isOutage, loadEngine, persistently, type Engine } from './engine.ts'
import { besideMark } from './folder-location.ts'
import type { IndexLocation } from './location.ts'
import { tableName } from './table.ts'
import { openVersionPresence } from './version-presence.ts'

/** Notes stored next to the table. Rows are only added, and the newest with a name applies. */
type NoteName = 'identity' | 'deletedSince'

const notesTable = 'notes'

/** The engine's default is three minutes; with these, an unavailable bucket is reported soon, and documents wait. */
const patience: Readonly<Record<string, string>> = {
  client_max_retries: '3',
  client_retry_timeout: '8',
  connect_timeout: '3s',
  timeout: '60s',
}

export function isBucket(address: string): boolean {
  return /^(?:s3|gs|az):\/\//.test(address)
}

/** Location of a staging index within that of another index. */
export function besideOf(folder: string, number: number): string {
  const name = `${besideMark}${Math.trunc(number)}`
  return isBucket(folder) ? `${folder.replace(/(?<!\/)\/+$/, '')}/${name}` : join(folder, name)
}

/** @param address `s3://bucket/path`; Google (`gs://`) and Azure (`az://`) are not tested */
export function bucketLocation(address: string, storageOptions: Readonly<Record<string, string>> = {}): IndexLocation {
  const connect = ({ lancedb }: Engine, session?: Session): Promise<Connection> =>
    lancedb.connect(address, {
      readConsistencyInterval: 0,
      storageOptions: { ...patience, ...storageOptions },
      ...(session && { session }),
    })
  const connected = <Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> =>
    guarded(async () => {
      const connection = await connect(await loadEngine())
      return work(connection).finally(() => connection.close())
    })
  const note = (name: NoteName, value: string): Promise<void> =>
    connected((connection) => persistently(() => addNote(connection, name, value)))
  const location: IndexLocation = {
    connect,
    openPresence: openVersionPresence,
    deletionsOf: (table) => ({
      any: async () => (await deadRows(table)) > 0,
      fragments: () => fragmentsWithDeletions(table),
      since: async () => {
        const noted = await connected((connection) => readNote(connection, 'deletedSince'))
        if (noted === '') await note('deletedSince', String(Date.now()))
        return noted === '' ? Date.now() : Number(noted)
      },
      forget: () => note('deletedSince', ''),
    }),
    bytesOf: async (table) => (await table.stats()).totalBytes,
    async inspect({ thorough, space }): Promise<IndexCondition> {
      const { isPresent, identity } = await connected(async (connection) => ({
        isPresent: await holdsTable(connection),
        identity: await readNote(connection, 'identity'),
      }))
      const mark = identity === '' ? {} : { identity }
      if (!isPresent) return { state: 'missing', ...mark }
      return { state: thorough ? await readThrough(location, space) : 'present', ...mark }
    },
    mark: (identity) => note('identity', identity),
    drop: () =>
      connected(async (connection) => {
        const names = await connection.tableNames()
        for (const name of [tableName, notesTable]) if (names.includes(name)) await connection.dropTable(name)
      }),
  }
  return location
}

/** A table without a version still appears by its name. */
async function holdsTable(connection: Connection): Promise<boolean> {
  if (!(await connection.tableNames()).includes(tableName)) return false
  const table = await connection.openTable(tableName).catch((error: unknown) => {
    if (isOutage(error) || !isMiss(error)) throw error
  })
  table?.close()
  return table !== undefined
}

async function readNote(connection: Connection, name: NoteName): Promise<string> {
  // Another process may be creating it.
  const table = await connection.openTable(notesTable).catch((error: unknown) => {
    if (isOutage(error) || !isMiss(error)) throw error
  })
  if (!table) return ''
  try {
    const rows: { value: string; at: number }[] = await table.query().where(`name = '${name}'`).toArray()
    return rows.reduce((newest, row) => (row.at >= newest.at ? row : newest), { value: '', at: 0 }).value
  } finally {
    table.close()
  }
}

async function addNote(connection: Connection, name: NoteName, value: string): Promise<void> {
  const rows = [{ name, value, at: Date.now() }]
  const table = await connection.createTable(notesTable, rows, { existOk: true })
  // If the table was just created, it already contains the rows; duplicates are harmless.
  await table.add(rows).finally(() => table.close())
}

async function deadRows(table: Table): Promise<number> {
  const { numRows, fragmentStats } = await table.stats()
  return Math.round(fragmentStats.numFragments * fragmentStats.lengths.mean) - numRows
}

/** By gaps in the numbers of rows, without listing files. Rows deleted at the end leave none: then all are returned. */
async function fragmentsWithDeletions(table: Table): Promise<number[]> {
  const fragments = new Map<number, { rows: number; next: number }>()
  for await (const batch of table.query().select(['position']).withRowId()) {
    const ids = batch.getChild('_rowid')
    for (let at = 0; at < batch.numRows; at++) {
      const id = BigInt(ids?.get(at))
      const [fragment, place] = [Number(id >> 32n), Number(id & 0xffff_ffffn)]
      const seen = fragments.get(fragment) ?? { rows: 0, next: 0 }
      fragments.set(fragment, { rows: seen.rows + 1, next: Math.max(seen.next, place + 1) })
    }
  }
  const gapped = [...fragments].filter(([, { rows, next }]) => rows < next).map(([fragment]) => fragment)
  return gapped.length > 0 ? gapped : [...fragments.keys()]
}
