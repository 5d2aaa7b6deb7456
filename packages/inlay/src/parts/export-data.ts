import { isOfPerson, keysOfFile, type BlobStorage } from '@inlay/conversations'
import { rowsOf, type CopiedTable } from '@inlay/records'
import { timeOfEvent } from '@inlay/server'
import { sql } from 'kysely'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { makeFolder, writeFolder } from '../data-folder.ts'
import { bytesOf, movedTables, type Stores } from './move-data.ts'
import { derivedTables, personTables } from './stored-tables.ts'

export interface ExportTarget {
  /** A folder that does not exist yet. It has this name once everything is in it. */
  readonly folder: string
  /** Id returned by `authenticate`, or the owner of a key. Default: everybody, with documents and settings. */
  readonly person?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Exported {
  /** Rows by file: `chat_sessions` has those of `chat_sessions.jsonl`. */
  readonly rows: Readonly<Record<string, number>>
  /** Files with all their bytes. */
  readonly files: number
  /** Files that lack bytes in their storage. */
  readonly filesWithoutBytes: number
}

/** Rows read at once: few of tables with long texts. */
const pageOf = ({ name }: CopiedTable): number => (/content|texts/.test(name) ? 10 : 100)

/** Writes what is stored as JSON Lines, a file for each table, and the bytes of files. */
export function exportData(
  stores: Pick<Stores, 'db' | 'storage'>,
  { folder, person, signal }: ExportTarget,
): Promise<Exported> {
  return writeFolder(folder, async (partial) => {
    const rows: Record<string, number> = {}
    const counts = { files: 0, filesWithoutBytes: 0 }
    for (const { columns, ...each } of await movedTables(stores.db)) {
      const table = { ...each, columns: columns.filter((column) => !leftOut.has(column)) }
      const place = personTables[table.name]
      if (derivedTables.has(table.name) || (person !== undefined && !place)) continue
      const name = table.name.slice('inlay_'.length)
      rows[name] = 0
      const where = person !== undefined && place ? isOfPerson(place, person, personTables) : sql<boolean>`1 = 1`
      const output = await open(join(partial, `${name}.jsonl`), 'wx', 0o600)
      try {
        for await (const page of rowsOf(stores.db, table, where, pageOf(table))) {
          let lines = ''
          for (const row of page) {
            signal?.throwIfAborted()
            const values = exportedRow(table, row)
            if (!values) continue
            const path = table.name === 'inlay_files' ? await exportFile(stores.storage, partial, row) : undefined
            if (path !== undefined) counts[path === null ? 'filesWithoutBytes' : 'files']++
            lines += `${JSON.stringify({ ...values, path })}\n`
            rows[name]++
          }
          await output.appendFile(lines)
        }
        await output.sync()
      } finally {
        await output.close()
      }
    }
    const about = { version: manifest.version, exported_at: new Date().toISOString(), person: person ?? null }
    const text = JSON.stringify({ ...about, rows, ...counts }, null, 2)
    await writeFile(join(partial, 'manifest.json'), `${text}\n`, { mode: 0o600, flush: true })
    return { rows, ...counts }
  })
}

const jsonColumn =
  /^(?:arguments|citations|definition|documents?|files|groups|images|limits|metadata|model_override|packets|request_params|scopes|sections|settings|target|task|value)$/
/** Secrets, and forms of an answer for replay and for its model: its texts, calls and sources are in other columns. */
const leftOut = new Set(['custom_headers', 'hash', 'lines', 'model_steps'])

/** A row with times and JSON as anybody reads them, without secrets; undefined for one that is a secret. */
function exportedRow(
  { name, columns, numbers }: CopiedTable,
  row: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  if (row['kind'] === 'mcp_sign_in') return undefined
  const values = columns.map((column): [string, unknown] => {
    const value = numbers.has(column) && row[column] !== null ? Number(row[column]) : row[column]
    if (column.endsWith('_at') && typeof value === 'number') return [column, new Date(value).toISOString()]
    const isJson = jsonColumn.test(column) || (name === 'inlay_contents' && column === 'content' && value !== '')
    return [column, isJson && typeof value === 'string' ? withoutSecrets(JSON.parse(value), row['kind']) : value]
  })
  return { ...(name === 'inlay_audit' && { time: timeOfEvent(String(row['id'])) }), ...Object.fromEntries(values) }
}

/** Models and MCP servers that administrators added have keys. */
function withoutSecrets(value: unknown, kind: unknown): unknown {
  if (kind !== 'model_provider' && kind !== 'mcp_server') return value
  return { ...Object(value), apiKey: undefined, token: undefined }
}

/** @returns the path in the folder; null if bytes are missing */
async function exportFile(
  storage: BlobStorage,
  folder: string,
  { id, file_id: fileId, name, size_bytes: size }: Readonly<Record<string, unknown>>,
): Promise<string | null> {
  // Names come from people: only letters and digits are known to be no path of another kind.
  const safeName = [...String(name)]
    .slice(-50)
    .join('')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, '_')
  const path = join('files', `${String(id)}-${safeName}`)
  await makeFolder(join(folder, 'files'))
  const output = await open(join(folder, path), 'wx', 0o600)
  try {
    for (const key of keysOfFile(String(fileId), Number(size))) {
      const bytes = await bytesOf(storage, key)
      if (!bytes) return null
      await output.appendFile(bytes)
    }
    await output.sync()
    return path
  } finally {
    await output.close()
  }
}
