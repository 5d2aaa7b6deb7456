import { InlayError } from '@inlay/protocol'

/** Tracks how much of a resource is in use, in total and per caller. */
export interface SharedCapacity {
  open(caller: string): CapacityShare
}

export interface CapacityShare {
  /**
   * Grows the share to the given amount. When nothing else is held, any amount is granted.
   * @throws RATE_LIMITED with `retryAfterSeconds` when it does not fit; the share keeps its size
   */
  grow(amount: number): void
  release(): void
}

export interface SharedCapacityOptions {
  readonly total: number
  readonly perCaller: number
  readonly message: string
}

export function createSharedCapacity({ total, perCaller, message }: SharedCapacityOptions): SharedCapacity {
  const used = new Map<string, number>()
  let sum = 0
  return {
    open: (caller) => {
      let held = 0
      let isReleased = false
      return {
        grow: (amount) => {
          const own = used.get(caller) ?? 0
          const more = amount - held
          if (more <= 0 || isReleased) return
          const isOwnShare = own > held && own + more > perCaller
          if (isOwnShare || (sum > held && sum + more > total)) {
            const of = isOwnShare ? 'caller' : 'tenant'
            throw new InlayError('RATE_LIMITED', { message, data: { retryAfterSeconds: 1, of } })
          }
          used.set(caller, own + more)
          sum += more
          held = amount
        },
        release: () => {
          isReleased = true
          sum -= held
          const left = (used.get(caller) ?? 0) - held
          if (left > 0) used.set(caller, left)
          else used.delete(caller)
          held = 0
        },
      }
    },
  }
}
