import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'

/** Default folder of database, index and files, in the working directory. */
export const defaultDataFolder = '.inlay'

/** Permissions: only the user who runs the process has access. */
const ownFolder = 0o700

export const databaseFile = (dataFolder: string): string => join(dataFolder, 'inlay.db')
export const databaseRecordFile = (dataFolder: string): string => join(dataFolder, 'database.json')
export const indexFolder = (dataFolder: string): string => join(dataFolder, 'index')
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

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

/** SQLite's code for a full disk. */
const sqliteFull = 13

/** An error that names the folder whose disk is full; any other error unchanged. */
export function fullDisk(error: unknown, target: string): unknown {
  const { code, errcode } = error as NodeJS.ErrnoException & { readonly errcode?: number }
  if (code !== 'ENOSPC' && errcode !== sqliteFull) return error
  return new InlayError('SERVICE_UNAVAILABLE', { message: `The disk of ${target} is full.`, cause: error })
}

/**
 * It gets its name once everything is in it, so that it is always complete. @throws INVALID_INPUT if it exists already
 */
export async function writeFolder<Result>(
  target: string,
  write: (partial: string) => Promise<Result>,
): Promise<Result> {
  if (await exists(target))
    throw new InlayError('INVALID_INPUT', { message: `${target} already exists: choose a new folder.` })
  const partial = join(dirname(target), `.${basename(target)}.${crypto.randomUUID().slice(0, 8)}.partial`)
  try {
    await makeFolder(partial)
    const result = await write(partial)
    await rename(partial, target)
    return result
  } catch (error) {
    throw fullDisk(error, target)
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}
