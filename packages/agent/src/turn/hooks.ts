import { InlayError, isInlayError } from '@inlay/protocol'
import type { BaseFilters, Principal, Usage } from '@inlay/protocol'
import { untilAborted } from '@inlay/protocol/concurrency'
import type { ToolCallHooks } from '../tool-calls/call-hooks.ts'

/** A message that is about to be answered; nothing of it is stored yet. */
export interface ComingTurn {
  readonly caller: Principal
  /** As it was sent; of a regeneration it is not what will be answered. */
  readonly message: string
  /** Null: a new session. */
  readonly sessionId: string | null
  readonly personaId: number
  readonly projectId: number | null
  /** Origin given with the message. */
  readonly origin: string
  readonly filters: BaseFilters | null
  /** Aborts at the time limit of hooks. */
  readonly signal: AbortSignal
}

/** Verdict of a hook on a message; undefined lets it pass. */
export interface TurnVerdict {
  /** Why the message is refused, for the one who sent it; absent: it is not. */
  readonly reject?: string
  /** Told to the model with this message alone, never stored. */
  readonly context?: string
}

/** An answer that is stored. */
export interface EndedTurn {
  readonly caller: Principal
  readonly sessionId: string
  readonly messageId: number
  readonly userMessage: string
  readonly answer: string
  readonly status: 'done' | 'failed' | 'cancelled' | 'terminated'
  /** Why it is not whole. */
  readonly error: { readonly code: string; readonly message: string } | null
  readonly citations: readonly { readonly number: number; readonly documentId: string }[]
  readonly calls: readonly { readonly name: string; readonly failed: boolean }[]
  readonly model: { readonly provider: string; readonly name: string }
  /** Tokens of all calls of models; null where the provider tells none. */
  readonly usage: Usage
  readonly durationMs: number
}

/** Callbacks of the host around turns and tool calls. */
export interface TurnHooks extends ToolCallHooks {
  /**
   * Called once a message has passed all other checks, before anything is stored; the sender waits. An InlayError it
   * throws is the answer as it is, anything else is HOOK_EXECUTION_FAILED.
   */
  readonly before?: (turn: ComingTurn) => Promise<TurnVerdict | void> | TurnVerdict | void
  /** Called for each answer once it is stored; nobody waits but `close`. What it throws goes to `onError`. */
  readonly after?: (turn: EndedTurn) => Promise<void> | void
}

const hookTimeMs = 30_000

/**
 * Asks a host about a message.
 * @returns what the model is to be told with it; undefined for nothing
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
