import { chmod, cp, lstat, readdir, readFile, realpath, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
import { exists, fullDisk, makeFolder } from '../data-folder.ts'
import { backupNote } from './backup.ts'
import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { dataFolderOf, needDataFolder, noteErrors, withInlay } from './with-inlay.ts'
import { waitForRebuild } from './reindex.ts'
import { flag } from './shared-options.ts'

export const restore: Command = {
  ...commandTable.restore,
  isLocal: 'run inlay restore on the machine that will use the data folder',
  details: ['The data folder (--data) must be empty or not exist. The backup is not changed.'],
  words: [1, 1],
  needs: 'the folder of a backup',
  options: {
    'no-wait': flag('exit after copying; the next start builds the index'),
  },
  async run(context) {
    const { output, words, options } = context
    needDataFolder(context, 'restore the database and the bucket with their own tools, then run inlay reindex')
    const target = dataFolderOf(context)
    await checkFolders(resolve(words[0]!), target)
    // Resolves links: otherwise the link would be copied, and the backup itself would be used.
    const source = await realpath(words[0]!)
    // Copied next to the target, so that an interrupted restore leaves nothing that looks like a data folder.
    const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
    try {
      await makeFolder(dirname(target))
      await cp(source, partial, { recursive: true, preserveTimestamps: true, filter: isFileOrFolder })
      // Unpacking an archive may have made it readable for others.
      await chmod(partial, 0o700)
      await rm(join(partial, backupNote))
      await rmdir(target).catch(() => {})
      await rename(partial, target)
    } catch (error) {
      throw fullDisk(error, target)
    } finally {
      await rm(partial, { recursive: true, force: true })
    }
    output.note(`The database and files were restored to ${target}.`)
    if (options['no-wait'] === true) {
      if (output.isJson) output.json({ folder: target })
      return 0
    }
    // A backup has no index, so this is no news here.
    const onError = (error: unknown): void => {
      if (!String(error).includes('The index is lost.')) noteErrors(context)(error)
    }
    return withInlay(context, (inlay) => waitForRebuild(context, inlay), { onError })
  },
}

/** Links are skipped: a backup contains none, and they could point outside of the data folder. */
async function isFileOrFolder(path: string): Promise<boolean> {
  const entry = await lstat(path)
  return entry.isFile() || entry.isDirectory()
}

async function checkFolders(source: string, target: string): Promise<void> {
  const note = await readFile(join(source, backupNote), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined
    throw new InlayError('INVALID_INPUT', { message: `${source} cannot be read (${cause.code}).`, cause })
  })
  if (note === undefined)
    throw new InlayError('INVALID_INPUT', {
      message: `${source} is not a complete backup: ${backupNote} is missing.`,
    })
  if ((await exists(target)) && (await readdir(target)).length > 0)
    throw new InlayError('INVALID_INPUT', {
      message: `${target} is not empty: choose an empty or new folder with --data.`,
    })
}
