import { isInlayError } from '@inlay/protocol'

/** Remembers for a minute that a disk was full, for readiness to report it. */
export interface FullDiskNote {
  /** Receives any failure; ignores those that are not about a full disk. */
  readonly note: (error: unknown) => void
  /** Instructions for the operator; undefined if no disk was full recently. */
  readonly message: () => string | undefined
}

/** Longer than the interval at which failed writes are retried. */
const rememberedMs = 60_000

export function createFullDiskNote(): FullDiskNote {
  let last: { readonly message: string; readonly at: number } | undefined
  return {
    note: (error) => {
      for (let at = error; isInlayError(at); at = at.cause)
        if (at.data['isFullDisk'] === true) last = { message: at.message, at: performance.now() }
    },
    message: () => (last && performance.now() - last.at < rememberedMs ? last.message : undefined),
  }
}
