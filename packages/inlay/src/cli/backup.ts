import { chmod, cp, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { databaseFile, exists, filesFolder, makeFolder, writeFolder } from '../data-folder.ts'
import type { Command, CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { dataFolderOf, needDataFolder, refuseInside } from './with-inlay.ts'

/** Written last: a folder without it is an incomplete backup. */
export const backupNote = 'backup.json'

const keptFiles = ['api-key', 'own-documents.json']

export const backup: Command = {
  ...commandTable.backup,
  isLocal: 'run inlay backup on the machine that has the data folder',
  details: [
    'The copy contains everything accepted before the command started. The index is not copied:',
    'inlay restore rebuilds it from the database. The copy contains keys and texts: protect it like the original.',
  ],
  words: [1, 1],
  needs: 'the folder to write to',
  options: {},
  async run(context) {
    const { output, signal, words } = context
    needDataFolder(
      context,
      'back up the database and the bucket with their own tools, such as pg_dump; the index can be rebuilt',
    )
    const source = dataFolderOf(context)
    const target = resolve(words[0]!)
    await checkFolders(source, target)
    const counts = await writeFolder(target, async (partial) => {
      const counts = await copyAll(context, source, partial)
      signal.throwIfAborted()
      const note = `${JSON.stringify({ ...counts, version: manifest.version })}\n`
      await writeFile(join(partial, backupNote), note, { mode: 0o600 })
      return counts
    })
    output.result(
      { folder: target, ...counts },
      `${counts.documents} documents and ${counts.files} files are in ${target}.`,
    )
    return 0
  },
}

async function checkFolders(source: string, target: string): Promise<void> {
  if (!(await exists(databaseFile(source))))
    throw new InlayError('INVALID_INPUT', {
      message: `There is no database in ${source}. Back up another database with its own tools.`,
    })
  refuseInside(source, target, 'A backup')
}

/**
 * Files are copied before the database and once more after it. A file in the database existed at one of both times,
 * unless it was deleted in between.
 */
async function copyAll(
  { output, signal }: CommandContext,
  source: string,
  target: string,
): Promise<{ documents: number; files: number }> {
  output.note('Copying files.')
  await copyNewFiles(filesFolder(source), filesFolder(target), signal)
  signal.throwIfAborted()
  output.note('Copying records.')
  const documents = await copyRecords(databaseFile(source), databaseFile(target))
  const files = await copyNewFiles(filesFolder(source), filesFolder(target), signal)
  for (const name of keptFiles)
    await cp(join(source, name), join(target, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  return { documents, files }
}

/** Consistent even while it is written to: SQLite reads it in one transaction. @returns the number of documents */
async function copyRecords(source: string, target: string): Promise<number> {
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(source, { timeout: 10_000 })
  try {
    database.prepare('vacuum into ?').run(target)
  } finally {
    database.close()
  }
  await chmod(target, 0o600)
  const copy = new DatabaseSync(target)
  try {
    const [check] = copy.prepare('pragma quick_check').all()
    if (Object.values(check ?? {})[0] !== 'ok')
      throw new InlayError('INTERNAL_ERROR', { message: 'The copy of the database is damaged. Is the disk full?' })
    // Until the assistant first runs, a database may hold nothing but keys.
    const isEmpty = copy.prepare(`select 1 from sqlite_master where name = 'inlay_documents'`).get() === undefined
    if (isEmpty) return 0
    const { count } = copy.prepare('select count(*) as count from inlay_documents').get() as { count: number }
    return count
  } finally {
    copy.close()
    await syncFile(target)
  }
}

/** Copies missing files. Files are never changed, only added and removed. @returns the number of files in the copy */
async function copyNewFiles(source: string, target: string, signal: AbortSignal): Promise<number> {
  await makeFolder(target)
  let count = 0
  for (const entry of await readdir(source, { recursive: true, withFileTypes: true }).catch(() => [])) {
    signal.throwIfAborted()
    if (!entry.isFile()) continue
    const from = join(entry.parentPath, entry.name)
    const to = join(target, relative(source, from))
    count++
    if (await exists(to)) continue
    await makeFolder(dirname(to))
    // Read at once: files are stored in pieces of a few MiB.
    const bytes = await readFile(from).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (bytes === undefined) count--
    else await writeFile(to, bytes, { mode: 0o600, flush: true })
  }
  return count
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}
