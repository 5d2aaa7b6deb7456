/** Why a file is not read. Callers find it as `data.reason` of the error. */
export type RefusalReason =
  | 'empty'
  | 'broken'
  | 'encrypted'
  | 'unsupported'
  | 'too_large'
  | 'bomb'
  | 'too_slow'
  | 'out_of_memory'

/** A reason with its message: the problem and what to do. Plain data, so that it can be passed between threads. */
export interface Refusal {
  readonly reason: RefusalReason
  readonly message: string
}

/** An error with a {@link Refusal}. Not an InlayError, since the worker loads no other package of ours. */
export function refusal(reason: RefusalReason, message: string, cause?: unknown): Error & { refusal: Refusal } {
  return Object.assign(new Error(message, { cause }), { refusal: { reason, message } })
}

/** Whether a library is not installed, which is not a fault of the file. */
export function isMissingModule(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}

export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !('refusal' in error)) return undefined
  // Only `refusal()` sets this property.
  return error.refusal as Refusal
}
