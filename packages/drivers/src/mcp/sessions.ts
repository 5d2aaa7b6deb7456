import { isExpired, isLost } from './messages.ts'
import type { McpSession } from './session.ts'

/** Keeps sessions open for a while, so that calls of one chat find the state that earlier ones left on the server. */
export interface McpSessions {
  /**
   * Runs `work` with the session of a key, opening it if needed. If the server does not know the session any more, a new
   * one is opened once, and also after a lost connection if `isRepeatable`; other failures are not retried.
   */
  use<Value>(
    key: string,
    open: () => Promise<McpSession>,
    work: (session: McpSession) => Promise<Value>,
    isRepeatable?: boolean,
  ): Promise<Value>
  close(): Promise<void>
}

interface Held {
  readonly opening: Promise<McpSession>
  users: number
  usedAt: number
}

/** Ends sessions that are idle for five minutes, and the least recently used one above 100. */
export function createMcpSessions({
  now,
  idleMs = 300_000,
  most = 100,
}: {
  readonly now: () => number
  readonly idleMs?: number
  readonly most?: number
}): McpSessions {
  const held = new Map<string, Held>()
  const end = (key: string, entry: Held): void => {
    if (held.get(key) === entry) held.delete(key)
    void entry.opening.then((session) => session.close()).catch(() => {})
  }
  let timer: NodeJS.Timeout | undefined
  /** Also when no calls arrive, since each session occupies the server. */
  const sweep = (): void => {
    for (const [key, entry] of held) {
      const isOld = now() - entry.usedAt >= idleMs || held.size > most
      if (entry.users === 0 && isOld) end(key, entry)
    }
    if (held.size === 0 || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      sweep()
    }, idleMs)
    timer.unref()
  }
  const take = (key: string, open: () => Promise<McpSession>): Held => {
    const entry = held.get(key) ?? { opening: open(), users: 0, usedAt: 0 }
    entry.users++
    entry.usedAt = now()
    // Moves the entry to the end of the map, so the least recently used is first.
    held.delete(key)
    held.set(key, entry)
    return entry
  }
  const once: McpSessions['use'] = async (key, open, work) => {
    const entry = take(key, open)
    try {
      return await work(await entry.opening)
    } catch (error) {
      const isOpen = await entry.opening.then(
        () => true,
        () => false,
      )
      if (!isOpen || isLost(error)) end(key, entry)
      throw error
    } finally {
      entry.users--
      entry.usedAt = now()
      sweep()
    }
  }
  return {
    use: async (key, open, work, isRepeatable = false) => {
      try {
        return await once(key, open, work)
      } catch (error) {
        if (!isExpired(error) && !(isRepeatable && isLost(error))) throw error
        return once(key, open, work)
      }
    },
    close: async () => {
      clearTimeout(timer)
      const all = [...held.values()]
      held.clear()
      await Promise.allSettled(all.map(async ({ opening }) => (await opening).close()))
    },
  }
}
