import { readdir, stat } from 'node:fs/promises'
import { databaseFile, filesFolder, indexFolder } from '../data-folder.ts'

/** Data stored outside of the data folder. */
export interface KeptElsewhere {
  readonly records: boolean
  readonly index: boolean
  readonly files: boolean
}

/**
 * Finds what lies in a data folder and is not used, because the options name another place for it: somebody may wonder
 * where their documents are.
 * @returns a sentence for each, with what to do
 */
export async function findUnusedData(dataFolder: string, elsewhere: KeptElsewhere): Promise<string[]> {
  const notices: string[] = []
  const hasRecords = elsewhere.records && (await holdsRecords(databaseFile(dataFolder)))
  if (hasRecords)
    notices.push(
      `The records in ${databaseFile(dataFolder)} are not used, because INLAY_DATABASE_URL or an option names another database: ` +
        'their documents, sessions and keys are not found here. To use them, start without it. To give them up, move the file away.',
    )
  if (elsewhere.files && (await holdsAnything(filesFolder(dataFolder))))
    notices.push(
      `The files in ${filesFolder(dataFolder)} are not used, because INLAY_FILES_URL or an option names another place. ` +
        'Copy them there under the same names, or move the folder away.',
    )
  if (elsewhere.index && (await holdsAnything(indexFolder(dataFolder))))
    notices.push(
      `The index in ${indexFolder(dataFolder)} is not used, because the index lies elsewhere (INLAY_INDEX_URL, INLAY_DATABASE_URL or an option). ` +
        `Indexes are made anew from the records: ${hasRecords ? 'keep it with its records, or delete both.' : 'it may be deleted.'}`,
    )
  return notices
}

/** Tables whose rows somebody would miss. */
const missedTables = ['inlay_documents', 'inlay_chat_sessions', 'inlay_api_key']

/** Whether a database has rows that somebody would miss; one that cannot be read may have. */
async function holdsRecords(file: string): Promise<boolean> {
  const size = await stat(file).then(
    ({ size: bytes }) => bytes,
    () => 0,
  )
  if (size === 0) return false
  const { DatabaseSync } = await import('node:sqlite')
  try {
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      const known = db.prepare("select name from sqlite_master where type = 'table'").all()
      const names = new Set(known.map((row) => row['name']))
      return missedTables.some(
        (table) => names.has(table) && db.prepare(`select 1 from ${table} limit 1`).get() !== undefined,
      )
    } finally {
      db.close()
    }
  } catch {
    return true
  }
}

/** Whether there is a file in a folder, at any depth. */
async function holdsAnything(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (!entry.isDirectory() || (await holdsAnything(`${folder}/${entry.name}`))) return true
  return false
}
