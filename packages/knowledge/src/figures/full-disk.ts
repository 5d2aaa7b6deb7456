import { isInlayError } from '@inlay/protocol'

/** Remembers for a while that a disk was full, so that readiness can say it. */
export interface FullDiskNote {
  /** Takes any failure; what is no full disk is passed over. */
  readonly note: (error: unknown) => void
  /** Instructions for the operator; undefined when no disk was full recently. */
  readonly message: () => string | undefined
}

/** Writes that fail are tried again more often than that. */
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
