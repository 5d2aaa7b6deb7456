import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { toRedisFailure } from './refusals.ts'
import type { RedisClient } from './client.ts'

/** The way to a server. */
export interface Connection {
  /** @throws SERVICE_UNAVAILABLE while there is none */
  readonly client: () => Promise<RedisClient>
  readonly close: () => Promise<void>
}

/** When a server counts as silent, in milliseconds. */
export interface Patience {
  /** How long after a use it is asked whether it is there. */
  readonly quietMs: number
  /** Longest time to say so. */
  readonly answerMs: number
  /** How long a client tries to reach it before another one takes its place. */
  readonly reachMs: number
}

/** A client that a silent server took stays unready: the next one may find it answering again. */
export const redisTimes: Patience = { quietMs: 1_000, answerMs: 3_000, reachMs: 3_000 }

interface Opened {
  readonly redis: RedisClient
  readonly at: number
  isGivenUp: boolean
}

/**
 * Connects at first use, and again when the connection breaks. A server that has gone silent, frozen or cut off without a
 * word, would keep callers for ever: soon after each use it is asked whether it is there, and what waits for it is rejected
 * when it is not.
 */
export function createConnection(
  createClient: () => Promise<RedisClient>,
  { quietMs, answerMs, reachMs }: Patience = redisTimes,
): Connection {
  let opening: Promise<Opened> | undefined
  let look: NodeJS.Timeout | undefined
  let cause: unknown
  const open = async (): Promise<Opened> => {
    const redis = await createClient()
    const answered = new Promise<void>((resolve) => {
      redis.once('ready', resolve)
      redis.once('error', () => resolve())
    })
    redis.on('error', (error) => void (cause = error))
    const at = performance.now()
    // It goes on trying by itself once the first try is made.
    void redis.connect().catch(() => {})
    await inTime(answered, answerMs)
    return { redis, at, isGivenUp: false }
  }
  const giveUp = (opened: Opened): void => {
    // Another may have taken its place already.
    if (opened.isGivenUp) return
    opened.isGivenUp = true
    opening = undefined
    opened.redis.destroy()
  }
  const check = async (opened: Opened): Promise<void> => {
    // A refusal is an answer too.
    const isThere =
      !opened.redis.isReady ||
      (await inTime(
        opened.redis.ping().catch(() => {}),
        answerMs,
      ))
    look = undefined
    if (!isThere) giveUp(opened)
  }
  return {
    client: async () => {
      const opened = await (opening ??= open())
      if (opened.redis.isReady) {
        look ??= setTimeout(() => void check(opened), quietMs).unref()
        return opened.redis
      }
      if (performance.now() - opened.at > reachMs) giveUp(opened)
      throw toRedisFailure(cause)
    },
    close: async () => {
      clearTimeout(look)
      const opened = await opening
      opened?.redis.destroy()
    },
  }
}

/** Whether work ends within a time. */
async function inTime(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const over = new AbortController()
  // An answer may have come while the process was busy: then the time is up before it is read.
  const timeUp = delay(limitMs, undefined, over).then(() => nextTurn())
  const isDone = await Promise.race([
    work.then(() => true),
    timeUp.then(
      () => false,
      () => false,
    ),
  ])
  over.abort()
  return isDone
}
