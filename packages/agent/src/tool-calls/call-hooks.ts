import { callHook, InlayError, type Principal } from '@inlay/protocol'

/** A tool call before it runs. */
export interface ComingToolCall {
  readonly caller: Principal
  readonly sessionId: string
  readonly messageId: number
  /** Name of the action as the model knows it. */
  readonly name: string
  /** Arguments after validation by the schema. */
  readonly arguments: unknown
  readonly signal: AbortSignal
}

/** Result of a hook on a tool call; undefined lets it run. */
export interface ToolCallVerdict {
  /** Why the call may not run, for the model. */
  readonly reject?: string | undefined
  /** Used in place of those of the model, also in all records; they have to fit the schema as well. */
  readonly arguments?: unknown
}

export interface EndedToolCall extends Omit<ComingToolCall, 'signal'> {
  readonly result: string
  readonly failed: boolean
  readonly durationMs: number
}

/** Callbacks of the host around tool calls. */
export interface ToolCallHooks {
  /**
   * Called for each call with valid arguments, before a person is asked to approve it. Once approved, it is called again with
   * the arguments that the person saw, and can only reject. An error rejects the call and goes to `onError`.
   */
  readonly beforeToolCall?:
    | ((call: ComingToolCall) => Promise<ToolCallVerdict | void> | ToolCallVerdict | void)
    | undefined
  /** Called after each call; nothing waits for it. Errors go to `onError`. */
  readonly afterToolCall?: ((call: EndedToolCall) => Promise<void> | void) | undefined
}

/**
 * @returns other arguments; undefined to keep those of the model
 * @throws INSUFFICIENT_PERMISSIONS with the host's reason, HOOK_EXECUTION_FAILED
 */
export async function checkCall(
  hook: NonNullable<ToolCallHooks['beforeToolCall']>,
  call: ComingToolCall,
  onError: (error: unknown) => void,
): Promise<unknown> {
  const verdict = await callHook(() => hook(call), onError)
  if (verdict?.reject === undefined) return verdict?.arguments
  throw new InlayError('INSUFFICIENT_PERMISSIONS', verdict.reject.trim() === '' ? {} : { message: verdict.reject })
}
