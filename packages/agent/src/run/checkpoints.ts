import type { Services } from '../contracts/services.ts'
import type { ConversationStore } from '../contracts/conversation-store.ts'

/** Stores the text of running answers at intervals, so that a crash loses little of it. */
export interface Checkpoints {
  /**
   * Stores the text of an answer until the returned function is called.
   * @param said returns the text so far
   */
  track(answerId: number, said: () => string): () => void
  /** Stores the answers that are due. Never rejects. */
  flush(): Promise<void>
  close(): void
}

/** Options of checkpoints; times are milliseconds. */
export interface CheckpointsOptions extends Pick<Services, 'now' | 'onError'> {
  readonly conversations: Pick<ConversationStore, 'checkpoint'>
  /** Minimum interval between two checkpoints of an answer. Default 1000. */
  readonly intervalMs?: number
  /** Whether others call `flush` while answers are tracked; otherwise a timer does. */
  readonly isDriven?: boolean
  /** Interval for an answer with little or no new text, as a sign of life. Default 5000. */
  readonly aliveMs?: number
}

interface Tracked {
  readonly said: () => string
  chars: number
  storedAt: number
}

/** Creates the checkpoints of one process. Its timer runs only while answers are tracked. */
export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { conversations, now, onError, intervalMs = 1_000, aliveMs = 5_000, isDriven = false } = options
  const tracked = new Map<number, Tracked>()
  let timer: ReturnType<typeof setInterval> | undefined
  let isBusy = false

  const flush = async (): Promise<void> => {
    if (isBusy) return
    const time = now()
    const due = [...tracked].flatMap(([answerId, answer]) => {
      // Timers and the clock differ by milliseconds.
      if (isDriven && Math.abs(time - answer.storedAt) < intervalMs * 0.9) return []
      const text = answer.said()
      // A checkpoint writes the complete text, so a long text has to grow by a share of its length.
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
      if (timer === undefined && !isDriven) {
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

/** Ends answers whose process has crashed. */
export interface AbandonedCheck {
  /** Resolves after the first check. If it failed, the next call repeats it. */
  checked(): Promise<void>
  close(): void
}

/**
 * Checks before the first use, and whenever the lease of another running answer may have expired.
 * @param terminate ends abandoned answers; returns the milliseconds until the next may be abandoned, undefined if none
 *   is running
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
      // After sleep or a clock change, a lease that seems expired proves nothing.
      if (Math.abs(now() - dueAt) > leaseMs / 2) checkIn(leaseMs)
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
