import type { Services } from '../contracts/services.ts'
import type { ConversationStore } from '../contracts/conversation-store.ts'

/** Stores what running answers have said now and then, so that a process that dies loses little of them. */
export interface Checkpoints {
  /**
   * Follows an answer until the function given back is called.
   * @param said gives what was said so far
   */
  track(answerId: number, said: () => string): () => void
  /** Stores at once what is due. */
  flush(): Promise<void>
  close(): void
}

/** Options of checkpoints; times are milliseconds. */
export interface CheckpointsOptions extends Pick<Services, 'now' | 'onError'> {
  readonly conversations: Pick<ConversationStore, 'checkpoint'>
  /** How often answers are looked at. Default 1000. */
  readonly intervalMs?: number
  /** How often an answer is stored that says nothing or little new. Default 5000. */
  readonly aliveMs?: number
}

interface Tracked {
  readonly said: () => string
  chars: number
  storedAt: number
}

/** Makes the checkpoints of one process; the timer runs only while answers do. */
export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { conversations, now, onError, intervalMs = 1_000, aliveMs = 5_000 } = options
  const tracked = new Map<number, Tracked>()
  let timer: ReturnType<typeof setInterval> | undefined
  let isBusy = false

  const flush = async (): Promise<void> => {
    if (isBusy) return
    const time = now()
    const due = [...tracked].flatMap(([answerId, answer]) => {
      const text = answer.said()
      // Each time the whole text is written, so a long one has to grow by a part of itself.
      const hasGrown = text.length > answer.chars * 1.05
      if (!hasGrown && time - answer.storedAt < aliveMs) return []
      answer.chars = text.length
      answer.storedAt = time
      return [{ answerId, text }]
    })
    if (due.length === 0) return
    isBusy = true
    try {
      await conversations.checkpoint(due)
    } catch (error) {
      onError(error)
    } finally {
      isBusy = false
    }
  }
  return {
    track: (answerId, said) => {
      tracked.set(answerId, { said, chars: 0, storedAt: now() })
      if (timer === undefined) {
        timer = setInterval(() => void flush(), intervalMs)
        timer.unref?.()
      }
      return () => {
        tracked.delete(answerId)
        if (tracked.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    flush,
    close: () => clearInterval(timer),
  }
}

/** Ends answers that other processes left behind. */
export interface AbandonedCheck {
  /** Resolves once the first check is through; a failed one is made again at the next call. */
  checked(): Promise<void>
  close(): void
}

/**
 * Makes the check: once before the first use, and again whenever the lease of another running answer may have run out.
 * @param terminate ends what is abandoned; gives milliseconds until more could be, undefined when nothing else runs
 */
export function createAbandonedCheck(
  terminate: () => Promise<number | undefined>,
  { now, onError, leaseMs }: Pick<Services, 'now' | 'onError'> & { readonly leaseMs: number },
): AbandonedCheck {
  let first: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  const checkIn = (delayMs: number): void => {
    const dueAt = now() + delayMs
    timer = setTimeout(() => {
      // A process that slept may not judge the others by their silence: they may have slept as well.
      if (now() - dueAt > leaseMs / 2) checkIn(leaseMs)
      else void check().catch(onError)
    }, delayMs)
    timer.unref?.()
  }
  const check = async (): Promise<void> => {
    const nextMs = await terminate()
    if (nextMs !== undefined && !isClosed) checkIn(nextMs + 1)
  }
  return {
    checked: async () => {
      first ??= check()
      try {
        await first
      } catch (error) {
        first = undefined
        throw error
      }
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
