import { chmod, cp, lstat, readdir, readFile, realpath, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
import { makeFolder } from '../data-folder.ts'
import { backupNote, exists } from './backup.ts'
import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { dataFolderOf, needDataFolder, withInlay } from './with-inlay.ts'
import { waitForRebuild } from './reindex.ts'

/** Makes a data folder of a backup. */
export const restore: Command = {
  ...commandTable.restore,
  details: ['The data folder (--data) must be empty or not exist. The backup stays as it is.'],
  words: [1, 1],
  needs: 'the folder of a backup',
  options: {
    'no-wait': { type: 'boolean', meaning: 'end once all is copied; the next start makes the index' },
  },
  async run(context) {
    const { output, words, options } = context
    needDataFolder(context, 'restore database and bucket by their own means, then run inlay reindex')
    const target = dataFolderOf(context)
    await checkFolders(resolve(words[0]!), target)
    // A link to a backup would be copied as a link, and the backup be used itself.
    const source = await realpath(words[0]!)
    // Beside the target: a restore that was cut off leaves nothing that looks like a data folder.
    const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
    try {
      await makeFolder(dirname(target))
      await cp(source, partial, { recursive: true, preserveTimestamps: true, filter: isFileOrFolder })
      // An archive that was unpacked may have been opened to others.
      await chmod(partial, 0o700)
      await rm(join(partial, backupNote))
      await rmdir(target).catch(() => {})
      await rename(partial, target)
    } finally {
      await rm(partial, { recursive: true, force: true })
    }
    output.note(`Records and files are in ${target}.`)
    if (options['no-wait'] === true) return 0
    return withInlay(context, (inlay) => waitForRebuild(context, inlay))
  },
}

/** A backup holds no links; one that does would lead out of the data folder. */
async function isFileOrFolder(path: string): Promise<boolean> {
  const entry = await lstat(path)
  return entry.isFile() || entry.isDirectory()
}

async function checkFolders(source: string, target: string): Promise<void> {
  const note = await readFile(join(source, backupNote), 'utf8').catch(() => undefined)
  if (note === undefined)
    throw new InlayError('INVALID_INPUT', {
      message: `${source} is no backup, or not a whole one: ${backupNote} is missing.`,
    })
  if ((await exists(target)) && (await readdir(target)).length > 0)
    throw new InlayError('INVALID_INPUT', {
      message: `${target} holds something already: name an empty or new folder by --data.`,
    })
}
