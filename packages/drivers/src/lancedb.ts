import { InlayError } from '@inlay/protocol'
import type { VectorIndex } from '@inlay/knowledge'

/** Where an index lies and how it is kept. */
export interface LancedbOptions {
  /** Folder on a local disk, made when missing. */
  readonly folder: string
  /** Current time in milliseconds since 1970 UTC. Default `Date.now`. */
  readonly now?: () => number
  /** How long superseded versions stay on disk for readers that still use them, in milliseconds. Default 60 000. */
  readonly keepVersionsMs?: number
}

/** `VectorIndex` over LanceDB in a local folder. The native module is loaded by `open`. */
export function lancedbIndex(options: LancedbOptions): VectorIndex {
  throw new InlayError('NOT_IMPLEMENTED', { cause: options })
}
