import { toRedisFailure } from './refusals.ts'
import { endsWithin } from '@inlay/scheduling'
import type { RedisClient } from './client.ts'

/** When a server counts as silent, in milliseconds. */
export interface Patience {
  /** Time after a use until the server is pinged. */
  readonly quietMs: number
  /** Timeout of the ping. */
  readonly answerMs: number
  /** Time for which a client tries to connect before it is replaced. */
  readonly reachMs: number
}

/** A client never becomes ready if an unresponsive server accepted its connection; a new client may. */
export const redisTimes: Patience = { quietMs: 1_000, answerMs: 3_000, reachMs: 3_000 }

interface Opened {
  readonly redis: RedisClient
  readonly at: number
  isGivenUp: boolean
}

/**
 * Connects on first use, and again when the connection breaks. An unresponsive server (frozen, or network packets lost)
 * would block callers forever, so it is pinged soon after each use; if it does not respond, waiting calls are rejected.
 */
export function createConnection(
  createClient: () => Promise<RedisClient>,
  { quietMs, answerMs, reachMs }: Patience = redisTimes,
) {
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
    // After the first attempt the client reconnects automatically.
    void redis.connect().catch(() => {})
    await endsWithin(answered, answerMs)
    return { redis, at, isGivenUp: false }
  }
  const giveUp = (opened: Opened): void => {
    // Another client may have replaced it already.
    if (opened.isGivenUp) return
    opened.isGivenUp = true
    opening = undefined
    opened.redis.destroy()
  }
  const check = async (opened: Opened): Promise<void> => {
    // A refusal is an answer too.
    const isThere =
      !opened.redis.isReady ||
      (await endsWithin(
        opened.redis.ping().catch(() => {}),
        answerMs,
      ))
    look = undefined
    if (!isThere) giveUp(opened)
  }
  return {
    /** @throws SERVICE_UNAVAILABLE while there is none */
    client: async (): Promise<RedisClient> => {
      const opened = await (opening ??= open())
      if (opened.redis.isReady) {
        look ??= setTimeout(() => void check(opened), quietMs).unref()
        return opened.redis
      }
      if (performance.now() - opened.at > reachMs) giveUp(opened)
      throw toRedisFailure(cause)
    },
    close: async (): Promise<void> => {
      clearTimeout(look)
      const opened = await opening
      opened?.redis.destroy()
    },
  }
}
