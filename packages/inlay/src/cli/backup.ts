import { chmod, cp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { databaseFile, filesFolder, makeFolder } from '../data-folder.ts'
import type { Command, CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { dataFolderOf, needDataFolder } from './with-inlay.ts'

/** Written last: a folder without it is no whole backup. */
export const backupNote = 'backup.json'

/** Small files of a data folder that belong to a backup. */
const keptFiles = ['api-key', 'own-documents.json']

/** Copies a data folder while it is in use. */
export const backup: Command = {
  ...commandTable.backup,
  details: [
    'Everything that was accepted before the command began is in the copy. The index is left out:',
    'inlay restore makes it anew from the records. The copy holds keys and texts; keep it as you keep the original.',
  ],
  words: [1, 1],
  needs: 'the folder to write to',
  options: {},
  async run(context) {
    const { output, signal, words } = context
    needDataFolder(
      context,
      'back up database and bucket by their own means, such as pg_dump; the index can be made anew',
    )
    const source = dataFolderOf(context)
    const target = resolve(words[0]!)
    await checkFolders(source, target)
    // Beside the target, and renamed at the end: what has the name of a backup is a whole one.
    const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
    try {
      await makeFolder(partial)
      const counts = await copyAll(context, source, partial)
      signal.throwIfAborted()
      await writeFile(join(partial, backupNote), `${JSON.stringify({ ...counts, version: manifest.version })}\n`, {
        mode: 0o600,
      })
      await rename(partial, target)
      if (output.isJson) output.json({ folder: target, ...counts })
      else output.line(`${counts.documents} documents and ${counts.files} files are in ${target}.`)
      return 0
    } finally {
      await rm(partial, { recursive: true, force: true })
    }
  },
}

async function checkFolders(source: string, target: string): Promise<void> {
  if (!(await exists(databaseFile(source))))
    throw new InlayError('INVALID_INPUT', {
      message: `There are no records in ${source}. Records in another database are backed up by its own means.`,
    })
  if (await exists(target))
    throw new InlayError('INVALID_INPUT', { message: `${target} exists already: name a folder that does not.` })
  if (!relative(source, target).startsWith('..'))
    throw new InlayError('INVALID_INPUT', { message: 'A backup inside the data folder would be lost with it.' })
}

/**
 * Files are copied before the records and once more after them. A file that the records name was there at one of both
 * times, unless it was deleted in between.
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

/**
 * Copies the database as it is at one moment, whoever writes to it: SQLite reads all of it in one transaction.
 * @returns how many documents it holds
 */
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
      throw new InlayError('INTERNAL_ERROR', { message: 'The copy of the records is damaged. Is the disk full?' })
    const { count } = copy.prepare('select count(*) as count from inlay_documents').get() as { count: number }
    return count
  } finally {
    copy.close()
    await syncFile(target)
  }
}

/** Copies what is not there yet. Files are never changed, only added and removed. @returns how many are there then */
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
    // Read whole: pieces of files are a few MiB.
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

/** Whether there is anything of this name. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
