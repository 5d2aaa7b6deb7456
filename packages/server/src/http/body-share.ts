import type { BudgetShare } from '@inlay/protocol/concurrency'
import type { ServerSettings } from './settings.ts'

/** Smaller bodies are not counted: what they take is bounded by the number of connections. */
const smallBodyBytes = 65_536
const longestHoldMs = 5000

/** Holds a share of the bytes that may be worked on at once; a body is in memory several times while it is read. */
export interface BodyShare {
  /** Says how much of the body there is by now. @throws RATE_LIMITED when too many bytes are being worked on */
  grow(bytes: number): void
  /** Releases the share in a while: whoever waits for a document to be indexed holds its bytes no longer. */
  expire(): void
  release(): void
}

export function createBodyShare({ bodyBudget, timer }: ServerSettings, caller: string): BodyShare {
  let share: BudgetShare | undefined
  let isReleased = false
  let cancel: (() => void) | undefined
  return {
    grow: (bytes) => {
      if (bytes <= smallBodyBytes || isReleased) return
      share ??= bodyBudget.open(caller)
      share.grow(bytes)
    },
    expire: () => {
      if (share) cancel = timer(longestHoldMs, share.release)
    },
    release: () => {
      cancel?.()
      isReleased = true
      share?.release()
    },
  }
}
