import type { RemoteTool } from './session.ts'

/** Cached tool lists of servers. */
export interface ToolLists {
  /**
   * The tools under a key. Only the first list is waited for; one that is no longer fresh is given once more while it is
   * fetched anew, and a server that failed is tried again with little patience. [] while it fails.
   */
  of(key: string, fetch: () => Promise<readonly RemoteTool[]>): Promise<readonly RemoteTool[]>
}

/** How lists are kept. */
export interface ToolListsOptions {
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** How long a list is fresh, in milliseconds. */
  readonly listMs: number
  /** How long a failure stands, in milliseconds. */
  readonly failedMs: number
  /** How long a server that failed before is waited for, in milliseconds. */
  readonly patienceMs: number
}

interface Entry {
  /** The latest list; undefined before the first one and after a failure. */
  tools: readonly RemoteTool[] | undefined
  hasFailed: boolean
  freshUntil: number
  running: Promise<void> | undefined
}

// More than one entry a server: what it offers may depend on the headers of who asks.
const mostLists = 200

/** Makes the lists. `fetch` tells its own failures before it rejects. */
export function createToolLists({ now, listMs, failedMs, patienceMs }: ToolListsOptions): ToolLists {
  const entries = new Map<string, Entry>()
  const entryOf = (key: string): Entry => {
    const entry = entries.get(key) ?? { tools: undefined, hasFailed: false, freshUntil: 0, running: undefined }
    // To the end of the map: what was asked for longest ago comes first.
    entries.delete(key)
    entries.set(key, entry)
    const oldest = entries.keys().next().value
    if (entries.size > mostLists && oldest !== undefined) entries.delete(oldest)
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
    of: async (key, fetch) => {
      const entry = entryOf(key)
      if (entry.running === undefined && entry.freshUntil > now()) return entry.tools ?? []
      const running = (entry.running ??= refresh(entry, fetch))
      if (entry.tools) return entry.tools
      await (entry.hasFailed ? atMost(running, patienceMs) : running)
      return entry.tools ?? []
    },
  }
}

async function atMost(work: Promise<void>, limitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  await Promise.race([work, promise])
  clearTimeout(timer)
}
