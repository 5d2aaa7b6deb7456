import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { IndexCondition } from '@inlay/knowledge'
import { readThrough } from './condition.ts'
import type { IndexLocation } from './location.ts'
import { tableName } from './table.ts'
import { openWriterPresence, type Processes } from './writer-presence.ts'

/** Begins the names of folders of indexes beside the first one, which lie in its folder. */
export const besideMark = 'space-'

/** Holds what the index was marked with. */
const identityFile = 'identity'
/** Its time of writing tells since when there may be deleted rows; it outlives the process. */
const deletionsFile = 'deleted-since'
/** Each handle has a file in there while it is open. */
const handlesFolder = 'open'

/** @param given folder on a local disk, made when missing */
export function folderLocation(given: string, processes?: Processes): IndexLocation {
  const folder = resolve(given)
  const table = join(folder, `${tableName}.lance`)
  const within = (name: string): string => join(folder, name)
  const location: IndexLocation = {
    async connect({ lancedb }, session) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return lancedb.connect(folder, { readConsistencyInterval: 0, ...(session && { session }) })
    },
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
      // By the names of files alone.
      const versions = await readdir(join(table, '_versions')).catch(() => [])
      const identity = await readFile(within(identityFile), 'utf8').catch(() => '')
      const mark = identity === '' ? {} : { identity: identity.trim() }
      if (versions.length === 0) return { state: 'missing', ...mark }
      return { state: thorough ? await readThrough(location, space) : 'present', ...mark }
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
      await rm(within(deletionsFile), { force: true })
      await rm(within(identityFile), { force: true })
      // Others that still have it open keep a file in there.
      await rmdir(within(handlesFolder)).catch(() => undefined)
      await rmdir(folder).catch(() => undefined)
    },
  }
  return location
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
