import { once } from 'node:events'
import { watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findBelow, toSource, type SourcePath } from './source-files.ts'

/** Changes that happened at about the same time. */
export interface FolderChanges {
  readonly changed: readonly SourcePath[]
  readonly gone: readonly SourcePath[]
}

/** Editors write a file in several steps, so changes are handled after this many milliseconds without another one. */
const settleMs = 300

/** Watches folders until the signal aborts. Changes are handled one group after the other. */
export async function watchFolders(
  folders: readonly string[],
  signal: AbortSignal,
  onChanges: (changes: FolderChanges) => Promise<void>,
): Promise<void> {
  const pending = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let work = Promise.resolve()
  const failed = Promise.withResolvers<void>()
  const flush = (): void => {
    const paths = new Map(pending)
    pending.clear()
    work = work.then(async () => onChanges(await sortPaths(paths))).catch(failed.reject)
  }
  const watchers = folders.map((folder) =>
    watch(folder, { recursive: true }, (_event, name) => {
      if (name === null || /(?:^|[\\/])(?:\.|node_modules(?:[\\/]|$))/.test(name)) return
      pending.set(join(folder, name), folder)
      clearTimeout(timer)
      timer = setTimeout(flush, settleMs)
    }).on('error', failed.reject),
  )
  try {
    await Promise.race([signal.aborted || once(signal, 'abort'), failed.promise])
  } finally {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
    await work
  }
}

async function sortPaths(paths: ReadonlyMap<string, string>): Promise<FolderChanges> {
  const changed = new Map<string, SourcePath>()
  const gone: SourcePath[] = []
  for (const [path, folder] of paths) {
    const facts = await stat(path).catch(() => undefined)
    if (facts === undefined) gone.push(toSource(path, folder))
    // A folder that was moved here causes no events for its files.
    else for (const file of await findBelow(folder, path)) changed.set(file.id, file)
  }
  return { changed: [...changed.values()], gone }
}
