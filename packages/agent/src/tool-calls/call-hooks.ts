import { InlayError, isInlayError, type Principal } from '@inlay/protocol'

/** A tool call that is about to run. */
export interface ComingToolCall {
  readonly caller: Principal
  readonly sessionId: string
  readonly messageId: number
  /** Name of the action as the model knows it. */
  readonly name: string
  /** As the action takes them: checked by its schema. */
  readonly arguments: unknown
  /** Aborts with the call. */
  readonly signal: AbortSignal
}

/** Verdict of a hook on a tool call; undefined lets it run. */
export interface ToolCallVerdict {
  /** Why the call does not run, for the model. */
  readonly reject?: string | undefined
}

/** A tool call that has ended. */
export interface EndedToolCall extends Omit<ComingToolCall, 'signal'> {
  /** Result for the model. */
  readonly result: string
  readonly failed: boolean
  readonly durationMs: number
}

/** Callbacks of the host around tool calls. */
export interface ToolCallHooks {
  /** Called for each call with arguments that fit. What it throws refuses the call and goes to `onError`. */
  readonly beforeToolCall?:
    | ((call: ComingToolCall) => Promise<ToolCallVerdict | void> | ToolCallVerdict | void)
    | undefined
  /** Called once a call has ended; nobody waits. What it throws goes to `onError`. */
  readonly afterToolCall?: ((call: EndedToolCall) => Promise<void> | void) | undefined
}

/**
 * Asks a host about a tool call.
 * @throws INSUFFICIENT_PERMISSIONS with the host's reason, HOOK_EXECUTION_FAILED
 */
export async function askBeforeCall(
  hook: NonNullable<ToolCallHooks['beforeToolCall']>,
  call: ComingToolCall,
  onError: (error: unknown) => void,
): Promise<void> {
  let verdict: ToolCallVerdict | void
  try {
    verdict = await hook(call)
  } catch (error) {
    if (isInlayError(error)) throw error
    onError(error)
    throw new InlayError('HOOK_EXECUTION_FAILED', { cause: error })
  }
  if (verdict?.reject === undefined) return
  throw new InlayError('INSUFFICIENT_PERMISSIONS', verdict.reject.trim() === '' ? {} : { message: verdict.reject })
}

/** Tells a host of a call that has ended. */
export async function tellAfterCall(
  hook: NonNullable<ToolCallHooks['afterToolCall']>,
  call: EndedToolCall,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    await hook(call)
  } catch (error) {
    onError(error)
  }
}
