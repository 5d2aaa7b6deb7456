import type { Principal } from '@inlay/protocol'
import { estimateTokens } from '../prompt/context-window.ts'
import type { TurnPlan } from './plan-turn.ts'

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

/** Covers a few model calls with long search results. */
const tokensOfAnswer = 32_000
/** Research makes many more calls than an answer. */
const answersOfResearch = 8

/** Tokens to reserve for a turn. */
export function expectedTokens({ request, models, research }: TurnPlan): number {
  if (research) return Math.min(research.limits.maxTokens, answersOfResearch * tokensOfAnswer)
  const message = estimateTokens(request.message + (request.additional_context ?? ''))
  return models.reduce((sum, { contextTokens }) => sum + message + Math.min(contextTokens, tokensOfAnswer), 0)
}
