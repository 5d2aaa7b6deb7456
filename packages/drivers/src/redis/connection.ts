import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { InlayError } from '@inlay/protocol'
import type { RedisClient } from './client.ts'

/** The way to a server. */
export interface Connection {
  /** @throws SERVICE_UNAVAILABLE while there is none */
  readonly client: () => Promise<RedisClient>
  readonly close: () => Promise<void>
}

/** When a server counts as silent, in milliseconds. */
export interface Patience {
  /** Longest time to say that it is there. */
  readonly answerMs: number
  /** How long it is not asked again. */
  readonly restMs: number
  /** How long a client tries to reach it before another one takes its place. */
  readonly reachMs: number
}

const usual: Patience = { answerMs: 3_000, restMs: 1_000, reachMs: 10_000 }

interface Opened {
  readonly redis: RedisClient
  readonly at: number
  heardAt: number
}

/**
 * Connects at first use, and again when the connection breaks. A server that has gone silent, frozen or cut off without a
 * word, would keep callers for ever: it is asked now and then whether it is there, and what waits for it is rejected when it is not.
 */
export function createConnection(
  createClient: () => Promise<RedisClient>,
  { answerMs, restMs, reachMs }: Patience = usual,
): Connection {
  let opening: Promise<Opened> | undefined
  let checking: Promise<void> | undefined
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
    return { redis, at, heardAt: at }
  }
  const giveUp = ({ redis }: Opened): void => {
    opening = undefined
    redis.destroy()
  }
  const check = async (opened: Opened): Promise<void> => {
    const now = performance.now()
    if (opened.redis.isReady) {
      // A refusal is an answer too.
      if (
        await inTime(
          opened.redis.ping().catch(() => {}),
          answerMs,
        )
      )
        opened.heardAt = now
      else giveUp(opened)
    } else if (now - opened.at > reachMs) giveUp(opened)
  }
  return {
    client: async () => {
      const opened = await (opening ??= open())
      if (performance.now() - opened.heardAt > restMs) {
        checking ??= check(opened).finally(() => (checking = undefined))
        await checking
      }
      if (opened.redis.isReady) return opened.redis
      throw new InlayError('SERVICE_UNAVAILABLE', { message: 'Redis cannot be reached.', cause, retryable: true })
    },
    close: async () => {
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
