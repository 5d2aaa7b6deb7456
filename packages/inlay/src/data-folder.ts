import { mkdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'

/** Default folder of database, index and files, in the working directory. */
export const defaultDataFolder = '.inlay'

/** Permissions: only the user who runs the process has access. */
const ownFolder = 0o700

export const databaseFile = (dataFolder: string): string => join(dataFolder, 'inlay.db')
/** Path of the record of what the database held, in a data folder. */
export const databaseRecordFile = (dataFolder: string): string => join(dataFolder, 'database.json')
/** Path of the index in a data folder. */
export const indexFolder = (dataFolder: string): string => join(dataFolder, 'index')
/** Path of uploaded files and pictures in a data folder. */
export const filesFolder = (dataFolder: string): string => join(dataFolder, 'files')

/**
 * Creates the data folder and the folders in it. Only the owner can read what it creates, even if the folder existed
 * before.
 * @throws SERVICE_UNAVAILABLE when it cannot be created or written
 */
export async function prepareDataFolder(dataFolder: string): Promise<void> {
  const folder = resolve(dataFolder)
  try {
    await makeFolder(folder)
    await makeFolder(indexFolder(folder))
    await makeFolder(filesFolder(folder))
  } catch (cause) {
    // Node's errors have a code. The path stays in the cause, since this message may reach clients.
    const { code = 'unknown reason' } = cause as NodeJS.ErrnoException
    throw new InlayError('SERVICE_UNAVAILABLE', {
      message: `The data folder cannot be used (${code}): set a writable folder with INLAY_DATA or the option dataFolder.`,
      cause,
      retryable: false,
    })
  }
}

/** Deletes database, index and files of a data folder, and nothing else. */
export async function removeFromFolder(dataFolder: string): Promise<void> {
  const database = ['', '-wal', '-shm'].map((end) => databaseFile(dataFolder) + end)
  for (const path of [...database, databaseRecordFile(dataFolder), indexFolder(dataFolder), filesFolder(dataFolder)])
    await rm(path, { recursive: true, force: true })
}

/**
 * Creates a folder and its parents, one at a time: Node's recursive mkdir never returns if a folder exists but cannot
 * contain folders, such as /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  const existing = await stat(folder).catch(() => undefined)
  if (existing?.isDirectory() === true) return
  const parent = dirname(folder)
  if (existing === undefined && parent !== folder) await makeFolder(parent)
  await mkdir(folder, ownFolder).catch(async (error: NodeJS.ErrnoException) => {
    // Another process may have been faster.
    if (error.code !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error
  })
}
