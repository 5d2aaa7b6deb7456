import { InlayError, isInlayError } from '@inlay/protocol'
import type { BaseFilters, Principal, Usage } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'
import type { ToolCallHooks } from '../tool-calls/call-hooks.ts'

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

/** Result of a hook on a message; undefined lets it pass. */
export interface TurnVerdict {
  /** Reason to reject the message, shown to its sender; absent to accept it. */
  readonly reject?: string
  /** Added to the prompt of this message only, never stored. */
  readonly context?: string
}

/** A stored answer. */
export interface EndedTurn {
  readonly caller: Principal
  readonly sessionId: string
  readonly messageId: number
  readonly userMessage: string
  readonly answer: string
  readonly status: 'done' | 'failed' | 'cancelled' | 'terminated'
  /** Why it is incomplete. */
  readonly error: { readonly code: string; readonly message: string } | null
  readonly citations: readonly { readonly number: number; readonly documentId: string }[]
  readonly calls: readonly { readonly name: string; readonly failed: boolean }[]
  readonly model: { readonly provider: string; readonly name: string }
  /** Tokens of all model calls; null where the provider reports none. */
  readonly usage: Usage
  readonly durationMs: number
}

/** Callbacks of the host around turns and tool calls. */
export interface TurnHooks extends ToolCallHooks {
  /**
   * Called once a message has passed all other checks, before anything is stored; the sender waits. An InlayError it
   * throws is returned unchanged; any other error becomes HOOK_EXECUTION_FAILED.
   */
  readonly before?: (turn: ComingTurn) => Promise<TurnVerdict | void> | TurnVerdict | void
  /** Called for each stored answer; only `close` waits for it. Errors go to `onError`. */
  readonly after?: (turn: EndedTurn) => Promise<void> | void
}

const hookTimeMs = 30_000

/**
 * Asks a host about a message.
 * @returns text to add to its prompt; undefined for none
 * @throws QUERY_REJECTED with the host's reason; HOOK_EXECUTION_FAILED, also after half a minute
 */
export async function askBefore(
  before: TurnHooks['before'],
  turn: Omit<ComingTurn, 'signal'>,
  onError: (error: unknown) => void,
): Promise<string | undefined> {
  if (!before) return undefined
  const signal = AbortSignal.timeout(hookTimeMs)
  let verdict: TurnVerdict | void
  try {
    verdict = await untilAborted(Promise.resolve(before({ ...turn, signal })), signal)
  } catch (error) {
    if (isInlayError(error)) throw error
    onError(error)
    throw new InlayError('HOOK_EXECUTION_FAILED', { cause: error })
  }
  if (!verdict) return undefined
  if (verdict.reject === undefined) return verdict.context
  throw new InlayError('QUERY_REJECTED', verdict.reject.trim() === '' ? {} : { message: verdict.reject })
}
