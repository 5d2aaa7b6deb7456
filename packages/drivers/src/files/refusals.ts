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

/** A reason with its sentence: what is wrong with the file and what to do; plain data, so that it crosses threads. */
export interface Refusal {
  readonly reason: RefusalReason
  readonly message: string
}

/** An error that stands for a {@link Refusal}; the worker loads no other package of ours, hence not an InlayError. */
export function refusal(reason: RefusalReason, message: string, cause?: unknown): Error & { refusal: Refusal } {
  return Object.assign(new Error(message, { cause }), { refusal: { reason, message } })
}

/** The refusal an error stands for; undefined for any other error. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !('refusal' in error)) return undefined
  // Only `refusal()` sets this property.
  return error.refusal as Refusal
}
