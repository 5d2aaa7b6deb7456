import { checkRequired, isText } from '@inlay/protocol'
import { mkdir, open, readdir, readFile, rename, rm, rmdir, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** Options of {@link blobFolder}. */
export interface BlobFolderOptions {
  /** Folder of the values, each in its own file; created if missing. */
  readonly folder: string
}

/** A storage of Inlay, and also a driver for `createStorage` of unstorage, spelt out since nothing here depends on it. */
export interface BlobFolder {
  readonly name: string
  readonly options: BlobFolderOptions
  hasItem(key: string): Promise<boolean>
  getItem(key: string): Promise<string | null>
  getItemRaw(key: string): Promise<Uint8Array | null>
  setItem(key: string, value: string): Promise<void>
  setItemRaw(key: string, value: string | Uint8Array): Promise<void>
  removeItem(key: string): Promise<void>
  getKeys(): Promise<string[]>
  clear(): Promise<void>
}

/** Marks a file that is still being written; no key has this in its name, since keys are encoded. */
const unfinished = '~'

/**
 * Keeps values in a folder. Writes are whole or not at all: a value is written beside its place, flushed to disk and then
 * renamed into it, so that neither a crash nor a reader ever meets half of one. unstorage's own `fs` drivers write in
 * place. Keys may hold anything, also what the file system could not: they are encoded.
 * @example
 * createInlay({ storage: blobFolder({ folder: '/var/inlay/files' }) })
 */
export function blobFolder(options: BlobFolderOptions): BlobFolder {
  checkRequired('blobFolder', options, { folder: ['the path of a folder', isText] })
  const { folder } = options
  const root = resolve(folder)
  const pathOf = (key: string): string => join(root, ...key.split(':').map(toFileName))
  let count = 0

  const write = async (key: string, value: string | Uint8Array): Promise<void> => {
    const path = pathOf(key)
    const beside = `${path}${unfinished}${process.pid}-${Date.now().toString(36)}-${count++}`
    try {
      await openInFolder(beside, (file) => writeDurably(file, value))
      await rename(beside, path)
      await syncFolder(dirname(path))
    } catch (error) {
      await rm(beside, { force: true })
      throw error
    }
  }
  return {
    name: 'inlay-blob-folder',
    options: { folder },
    hasItem: async (key) => (await readOrNull(pathOf(key))) !== null,
    getItem: async (key) => (await readOrNull(pathOf(key)))?.toString('utf8') ?? null,
    getItemRaw: async (key) => readOrNull(pathOf(key)),
    setItem: write,
    setItemRaw: write,
    removeItem: async (key) => {
      const path = pathOf(key)
      await unlink(path).catch(unlessMissing)
      await removeEmptyFolders(dirname(path), root)
    },
    getKeys: async () => listKeys(root),
    clear: async () => rm(root, { recursive: true, force: true }),
  }
}

/** Makes the folder and a new file in it. Someone who removes the last value removes the folder: then it is made again. */
async function openInFolder(path: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx', 0o600).catch((error: unknown) =>
      tries < 5 ? unlessMissing(error) : Promise.reject(error),
    )
    if (file) return use(file).finally(() => file.close())
  }
}

async function writeDurably(file: FileHandle, value: string | Uint8Array): Promise<void> {
  await file.writeFile(value)
  await file.sync()
}

/** Makes a rename outlive a loss of power, where the system can do that for folders. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}

async function readOrNull(path: string): Promise<Buffer | null> {
  return readFile(path).catch((error: unknown) => unlessMissing(error) ?? null)
}

/** Passes over what is not there; a folder or a file in the wrong place is not there as a value. */
function unlessMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
  throw error
}

/** So that a folder with a million files gone is not a folder with a million folders. */
async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let at = folder; at !== root && at.startsWith(root + sep); at = dirname(at)) {
    // Someone may be writing into it; then it is not empty and stays.
    if ((await readdir(at).catch(() => ['gone'])).length > 0) return
    await rmdir(at).catch(() => {})
  }
}

async function listKeys(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    unlessMissing(error)
    return []
  })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.includes(unfinished))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).map(fromFileName).join(':'))
}

/** A folder's name never ends like a value's, so that a key and its own prefix can both exist. */
function toFileName(part: string, index: number, parts: readonly string[]): string {
  const name = encodeURIComponent(part).replace(
    /[~*'().!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  )
  return index < parts.length - 1 ? `${name}.d` : name
}

function fromFileName(name: string): string {
  return decodeURIComponent(name.replace(/\.d$/, ''))
}
