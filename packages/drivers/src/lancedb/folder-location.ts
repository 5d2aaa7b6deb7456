import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { IndexCondition } from '@inlay/knowledge'
import { readThrough, readThroughApart } from './condition.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import type { IndexLocation } from './location.ts'
import { tableName } from './table.ts'
import { createWorkNote, openWriterPresence, readCrashes, type Processes, type WorkNote } from './writer-presence.ts'

/** Begins the names of folders of indexes beside the first one, which lie in its folder. */
export const besideMark = 'space-'

/** Holds what the index was marked with. */
const identityFile = 'identity'
/** Its time of writing tells since when there may be deleted rows; it outlives the process. */
const deletionsFile = 'deleted-since'
/** Each handle has a file in there while it is open. */
const handlesFolder = 'open'
/** Each process that works has a file in there. */
const workFolder = 'at-work'
/** So many processes that ended in the middle of their work within an hour make an index suspect. */
const suspectCrashes = 3

/** How processes that share a folder are told apart, and where one finds the program that reads it apart. */
export interface FolderOptions {
  readonly processes?: Processes
  /** Absent where nothing is looked at but by thorough looks. */
  readonly checkUrl?: URL
}

/** @param given folder on a local disk, made when missing */
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
      // By the names of files alone; beside its versions the engine leaves a hint of the latest.
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
      // Not by the engine, which would have to be loaded, and would refuse what a kill has left half removed.
      await rm(table, { recursive: true, force: true, maxRetries: 3 })
      await rm(within(workFolder), { recursive: true, force: true, maxRetries: 3 })
      await rm(within(deletionsFile), { force: true })
      await rm(within(identityFile), { force: true })
      // Others that still have it open keep a file in there.
      await rmdir(within(handlesFolder)).catch(() => undefined)
      await rmdir(folder).catch(() => undefined)
    },
  }
  return location
}

/** A file of the index may abort the process that reads it, at each start: then another process tries first. */
async function judgeAfterCrashes(
  folder: string,
  { processes, checkUrl, space }: FolderOptions & { readonly space: Space | undefined },
): Promise<IndexCondition['state']> {
  const crashes = await readCrashes(join(folder, workFolder), processes)
  if (crashes.length < suspectCrashes || !checkUrl) return 'present'
  const state = await readThroughApart(checkUrl, { folder, space })
  // Whatever ended the processes, it was not the index, as far as can be seen.
  if (state === 'present') for (const note of crashes) await rm(note, { force: true })
  return state ?? 'present'
}

/** The engine names a file of deletions by the fragment they are in. */
async function fragmentsWithDeletions(table: string): Promise<number[]> {
  const names = await readdir(join(table, '_deletions')).catch(() => [])
  const fragments = names.map((name) => /^(\d+)-/.exec(name)?.[1]).filter((id) => id !== undefined)
  return [...new Set(fragments.map(Number))]
}

/** Files come and go under upkeep, so what is not there any more counts nothing. */
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
