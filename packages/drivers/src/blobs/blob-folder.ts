import { checkRequired, isText } from '@inlay/protocol'
import { mkdir, open, readdir, readFile, rename, rm, rmdir, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'

export interface BlobFolderOptions {
  /** Folder for the values, one file each; created if missing. */
  readonly folder: string
}

export interface BlobFolder {
  /** Resolves to null when there is none. */
  getItemRaw(key: string): Promise<Uint8Array | null>
  setItemRaw(key: string, value: string | Uint8Array): Promise<void>
  /** No error when it is not there. */
  removeItem(key: string): Promise<void>
}

/** Suffix of a file that is still being written; encoded keys never contain it. */
const unfinished = '~'

/**
 * Stores values in a folder. Writes are atomic: a value is written to a temporary file, flushed to disk and renamed, so
 * neither a crash nor a reader sees half of one. unstorage's own `fs` drivers write in
 * place. Keys can contain any characters: they are encoded.
 * @example
 * createInlay({ files: blobFolder({ folder: '/var/inlay/files' }) })
 */
export function blobFolder(options: BlobFolderOptions): BlobFolder {
  checkRequired('blobFolder', options, '', { folder: ['the path of a folder', isText] })
  const root = resolve(options.folder)
  const pathOf = (key: string): string => join(root, ...key.split(':').map(toFileName))
  let count = 0

  const write = async (key: string, value: string | Uint8Array): Promise<void> => {
    const path = pathOf(key)
    const temporaryPath = `${path}${unfinished}${process.pid}-${Date.now().toString(36)}-${count++}`
    try {
      await openInFolder(temporaryPath, async (file) => {
        await file.writeFile(value)
        await file.sync()
      })
      await rename(temporaryPath, path)
      await syncFolder(dirname(path))
    } catch (error) {
      await rm(temporaryPath, { force: true })
      throw error
    }
  }
  return {
    getItemRaw: (key) => readFile(pathOf(key)).catch((error: unknown) => unlessMissing(error) ?? null),
    setItemRaw: write,
    removeItem: async (key) => {
      const path = pathOf(key)
      await unlink(path).catch(unlessMissing)
      await removeEmptyFolders(dirname(path), root)
    },
  }
}

/** Tries again if another process, which removed the last value, has removed the folder meanwhile. */
async function openInFolder(path: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx', 0o600).catch((error: unknown) =>
      tries < 5 ? unlessMissing(error) : Promise.reject(error),
    )
    if (file) return use(file).finally(() => file.close())
  }
}

/** Makes a rename survive a power failure, where the system supports syncing folders. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}

/** Ignores missing values; a folder or a file in the wrong place counts as missing. */
function unlessMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
  throw error
}

/** Otherwise a million deleted files would leave a million empty folders. */
async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let at = folder; at !== root && at.startsWith(root + sep); at = dirname(at)) {
    // If somebody writes into it, it is not empty and stays.
    if ((await readdir(at).catch(() => ['gone'])).length > 0) return
    await rmdir(at).catch(() => {})
  }
}

/** Folder names never end like those of values, so a key and its own prefix can both exist. */
function toFileName(part: string, index: number, parts: readonly string[]): string {
  const name = encodeURIComponent(part).replace(
    /[~*'().!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  )
  return index < parts.length - 1 ? `${name}.d` : name
}
