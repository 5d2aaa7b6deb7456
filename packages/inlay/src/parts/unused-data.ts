import { readdir, stat } from 'node:fs/promises'
import { databaseFile, filesFolder, indexFolder } from '../data-folder.ts'

/** Operators may wonder where their documents are. @returns a notice for each place that the options leave unused */
export async function findUnusedData(
  dataFolder: string,
  elsewhere: { readonly records: boolean; readonly index: boolean; readonly files: boolean },
): Promise<string[]> {
  const notices: string[] = []
  const hasRecords = elsewhere.records && (await holdsRecords(databaseFile(dataFolder)))
  if (hasRecords)
    notices.push(
      `The database ${databaseFile(dataFolder)} is not used, because INLAY_DATABASE_URL or an option ` +
        'specifies another one: its documents, sessions and keys are not available. To use it, start ' +
        'without that setting. If you do not need it, move the file away.',
    )
  if (elsewhere.files && (await holdsAnything(filesFolder(dataFolder))))
    notices.push(
      `The files in ${filesFolder(dataFolder)} are not used, because INLAY_FILES_URL or an option ` +
        'specifies another location. Copy them there under the same names, or move the folder away.',
    )
  if (elsewhere.index && (await holdsAnything(indexFolder(dataFolder))))
    notices.push(
      `The index in ${indexFolder(dataFolder)} is not used, because the index is elsewhere ` +
        '(INLAY_INDEX_URL, INLAY_DATABASE_URL or an option). An index can be rebuilt from its ' +
        `database: ${hasRecords ? 'keep it with its database, or delete both.' : 'you can delete it.'}`,
    )
  return notices
}

const missedTables = ['inlay_documents', 'inlay_chat_sessions', 'inlay_api_key']

/** Whether a database has rows worth a notice; true if it cannot be read. */
async function holdsRecords(file: string): Promise<boolean> {
  const { size } = await stat(file).catch(() => ({ size: 0 }))
  if (size === 0) return false
  try {
    const { DatabaseSync } = await import('node:sqlite')
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

/** Whether a folder contains a file, at any depth. */
export async function holdsAnything(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (!entry.isDirectory() || (await holdsAnything(`${folder}/${entry.name}`))) return true
  return false
}
