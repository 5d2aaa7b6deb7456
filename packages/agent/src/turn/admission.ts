import type { Principal } from '@inlay/protocol'

/** A turn that passed every check of the engine and is about to start. */
export interface StartingTurn {
  readonly caller: Principal
  /** Null: a new session. */
  readonly sessionId: string | null
  /** Tokens to reserve for its answers. Most answers use fewer, some more. */
  readonly expectedTokens: number
}

/** Called once, when all answers of the turn are stored; with 0 for a turn that never started. */
export type SettleTurn = (usedTokens: number) => Promise<void>

/** Lets a turn start and returns what settles it; throws an InlayError that refuses the turn. */
export type AdmitTurn = (turn: StartingTurn) => Promise<SettleTurn>
