import { callHook, InlayError } from '@inlay/protocol'
import type { Principal, Usage } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'
import type { ComingTurn, Instructions } from '../contracts/coming-turn.ts'
import type { Persona } from '../contracts/persona.ts'
import type { ToolCallHooks } from '../tool-calls/call-hooks.ts'

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

/** A message as the functions of a host get it, without the signal of the call. */
export type AskedTurn = Omit<ComingTurn, 'signal'>

/**
 * @returns text to add to the prompt of the message; undefined for none
 * @throws QUERY_REJECTED with the host's reason; HOOK_EXECUTION_FAILED, also after half a minute
 */
export async function askBefore(
  before: TurnHooks['before'],
  turn: AskedTurn,
  onError: (error: unknown) => void,
): Promise<string | undefined> {
  const verdict = before && (await askInTime((signal) => before({ ...turn, signal }), onError))
  if (!verdict) return undefined
  if (verdict.reject === undefined) return verdict.context
  throw new InlayError('QUERY_REJECTED', verdict.reject.trim() === '' ? {} : { message: verdict.reject })
}

const unwritten = 'The instructions that this deployment writes for each message could not be written: try again later.'

/** @throws HOOK_EXECUTION_FAILED, also after half a minute */
export async function writeInstructions<Context extends { readonly persona: Persona }>(
  systemPrompt: Instructions | undefined,
  context: Context,
  turn: AskedTurn,
  onError: (error: unknown) => void,
): Promise<{ readonly systemPrompt: string | undefined; readonly context: Context }> {
  const write = async (option: string, given: Instructions | undefined): Promise<string | undefined> => {
    if (typeof given !== 'function') return given
    const ask = async (signal: AbortSignal): Promise<string | undefined> => {
      const written: unknown = await given({ ...turn, signal })
      if (written === undefined || typeof written === 'string') return written
      throw new TypeError(`${option} must return a text, or undefined for none`)
    }
    return askInTime(ask, onError, unwritten)
  }
  const { persona } = context
  const texts = [write('systemPrompt', systemPrompt), write('instructions of an agent', persona.instructions)]
  const [base, own = persona.systemPrompt] = await Promise.all(texts)
  return { systemPrompt: base, context: { ...context, persona: { ...persona, systemPrompt: own } } }
}

async function askInTime<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer> | Answer,
  onError: (error: unknown) => void,
  message?: string,
): Promise<Answer> {
  const signal = AbortSignal.timeout(hookTimeMs)
  return callHook(() => untilAborted(Promise.resolve(ask(signal)), signal), onError, message)
}
