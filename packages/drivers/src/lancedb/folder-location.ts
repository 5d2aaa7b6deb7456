import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { IndexCondition } from '@inlay/knowledge'
import { readThrough, readThroughApart } from './condition.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import type { IndexLocation } from './location.ts'
import { tableName } from './table.ts'
import { createWorkNote, openWriterPresence, readCrashes, type Processes, type WorkNote } from './writer-presence.ts'

/** Prefix of the folders of staging indexes, inside the folder of the first index. */
export const besideMark = 'space-'

const identityFile = 'identity'
/** File whose modification time is the time of the oldest deletion; it survives the process. */
const deletionsFile = 'deleted-since'
/** Folder with a file per open handle. */
const handlesFolder = 'open'
/** Folder with a file per process that is working on the index. */
const workFolder = 'at-work'
/** Number of processes that crashed during work on the index within an hour, from which the index is suspect. */
const suspectCrashes = 3

export interface FolderOptions {
  readonly processes?: Processes
  /** URL of the program that reads an index in a separate process. Absent: only for thorough inspections. */
  readonly checkUrl?: URL | undefined
}

/** @param given folder on a local disk, created if missing */
export function folderLocation(given: string, { processes, checkUrl }: FolderOptions = {}): IndexLocation {
  const folder = resolve(given)
  const table = join(folder, `${tableName}.lance`)
  const within = (name: string): string => join(folder, name)
  const newNote = (): WorkNote => createWorkNote(within(workFolder), processes)
  const location: IndexLocation = {
    async connect({ lancedb }, session) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return lancedb.connect(folder, { readConsistencyInterval: 0, ...(session && { session }) })
    },
    workNote: newNote(),
    openPresence: () => openWriterPresence(within(handlesFolder), processes),
    deletionsOf: () => ({
      any: async () => (await fragmentsWithDeletions(table)).length > 0,
      fragments: () => fragmentsWithDeletions(table),
      since: async () => {
        const noted = await stat(within(deletionsFile)).catch(() => undefined)
        if (noted === undefined) await writeFile(within(deletionsFile), '')
        return noted?.mtimeMs ?? Date.now()
      },
      forget: () => rm(within(deletionsFile), { force: true }),
    }),
    bytesOf: () => bytesOf(folder),
    async inspect({ thorough, space }): Promise<IndexCondition> {
      // Checks file names only; besides its versions the engine writes a hint file of the latest.
      const names = await readdir(join(table, '_versions')).catch(() => [])
      const identity = await readFile(within(identityFile), 'utf8').catch(() => '')
      const mark = identity === '' ? {} : { identity: identity.trim() }
      if (!names.some((name) => name.endsWith('.manifest'))) return { state: 'missing', ...mark }
      if (!thorough) return { state: await judgeAfterCrashes(folder, { processes, checkUrl, space }), ...mark }
      const note = newNote()
      note.set(true)
      return { state: await readThrough(location, space).finally(() => note.remove()), ...mark }
    },
    async mark(identity) {
      const draft = within(`${identityFile}-${randomUUID()}`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(draft, identity, { mode: 0o600 })
      await rename(draft, within(identityFile))
    },
    async drop() {
      // Not with the engine, which would have to be loaded and would refuse a half-deleted table after a kill.
      await rm(table, { recursive: true, force: true, maxRetries: 3 })
      await rm(within(workFolder), { recursive: true, force: true, maxRetries: 3 })
      await rm(within(deletionsFile), { force: true })
      await rm(within(identityFile), { force: true })
      // Not empty if another process still has the index open.
      await rmdir(within(handlesFolder)).catch(() => undefined)
      await rmdir(folder).catch(() => undefined)
    },
  }
  return location
}

/** A damaged file may abort every reader: after several crashes, a separate process reads the index first. */
async function judgeAfterCrashes(
  folder: string,
  { processes, checkUrl, space }: FolderOptions & { readonly space: Space | undefined },
): Promise<IndexCondition['state']> {
  const crashes = await readCrashes(join(folder, workFolder), processes)
  if (crashes.length < suspectCrashes || !checkUrl) return 'present'
  const state = await readThroughApart(checkUrl, { folder, space })
  // The index can be read, so it probably did not cause the crashes.
  if (state === 'present') for (const note of crashes) await rm(note, { force: true })
  return state ?? 'present'
}

/** The engine names a file of deletions after its fragment. */
async function fragmentsWithDeletions(table: string): Promise<number[]> {
  const names = await readdir(join(table, '_deletions')).catch(() => [])
  const fragments = names.map((name) => /^(\d+)-/.exec(name)?.[1]).filter((id) => id !== undefined)
  return [...new Set(fragments.map(Number))]
}

/** Maintenance adds and removes files meanwhile, so missing files count as 0. */
async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const own = entries.filter(({ name }) => !name.startsWith(besideMark))
  const sizes = own.map((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory()
      ? bytesOf(path)
      : stat(path).then(
          ({ size }) => size,
          () => 0,
        )
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
