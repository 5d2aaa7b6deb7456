import { endsWithin } from '@inlay/scheduling'
import type { RemoteTool } from './session.ts'

export interface ToolListsOptions {
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** Timeout for a server that failed before, in milliseconds. */
  readonly patienceMs: number
}

interface Entry {
  /** The latest list; undefined before the first one and after a failure. */
  tools: readonly RemoteTool[] | undefined
  hasFailed: boolean
  freshUntil: number
  running: Promise<void> | undefined
}

/** Time for which a list is fresh, in milliseconds. */
const listMs = 300_000
/** Time after a failure before the next attempt, in milliseconds. */
const failedMs = 30_000
// A server can have several entries: its tools may depend on the caller's headers.
const maxLists = 200

/** Creates the cache. `fetch` reports its own failures before it rejects. */
export function createToolLists({ now, patienceMs }: ToolListsOptions) {
  const entries = new Map<string, Entry>()
  const entryOf = (key: string): Entry => {
    const entry = entries.get(key) ?? { tools: undefined, hasFailed: false, freshUntil: 0, running: undefined }
    // Moves the entry to the end of the map, so the least recently used is first.
    entries.delete(key)
    entries.set(key, entry)
    const oldest = entries.keys().next().value
    if (entries.size > maxLists && oldest !== undefined) entries.delete(oldest)
    return entry
  }
  const refresh = async (entry: Entry, fetch: () => Promise<readonly RemoteTool[]>): Promise<void> => {
    try {
      entry.tools = await fetch()
      entry.hasFailed = false
      entry.freshUntil = now() + listMs
    } catch {
      entry.tools = undefined
      entry.hasFailed = true
      entry.freshUntil = now() + failedMs
    } finally {
      entry.running = undefined
    }
  }
  return {
    /** Awaits the first list only: a stale one is returned while it is refreshed. [] while the server fails. */
    of: async (key: string, fetch: () => Promise<readonly RemoteTool[]>): Promise<readonly RemoteTool[]> => {
      const entry = entryOf(key)
      if (entry.running === undefined && entry.freshUntil > now()) return entry.tools ?? []
      const running = (entry.running ??= refresh(entry, fetch))
      if (entry.tools) return entry.tools
      await (entry.hasFailed ? endsWithin(running, patienceMs) : running)
      return entry.tools ?? []
    },
    /** Forgets the list of a key, which has changed: the next one is awaited. */
    drop: (key: string): void => {
      const entry = entries.get(key)
      // While it fails, it is left alone.
      if (entry && !entry.hasFailed) entries.delete(key)
    },
  }
}
