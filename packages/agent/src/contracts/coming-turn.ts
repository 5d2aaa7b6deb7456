import type { BaseFilters, Principal } from '@inlay/protocol'

/** A message before it is answered; nothing is stored yet. */
export interface ComingTurn {
  readonly caller: Principal
  /** The text of the request. A regeneration answers the stored question instead. */
  readonly message: string
  /** Null: a new session. */
  readonly sessionId: string | null
  readonly personaId: number
  readonly projectId: number | null
  /** Origin given with the message. */
  readonly origin: string
  readonly filters: BaseFilters | null
  /** Aborts at the timeout of hooks. */
  readonly signal: AbortSignal
}

/**
 * Instructions for the model. A function writes those of one message, for its caller alone; undefined for none. To count
 * the tokens that are left for a next message, it is called with an empty one.
 */
export type Instructions = string | ((turn: ComingTurn) => Promise<string | undefined> | string | undefined)
