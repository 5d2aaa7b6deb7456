import { InlayError } from '@inlay/protocol'

/** What the triggers of `inlay move` say, and what callers read: reads go on, writes are refused. */
const sentences: Readonly<Record<string, readonly [message: string, retryAfterSeconds: number]>> = {
  inlay_moving: ['The data is being moved to another database: try again in a few seconds.', 5],
  inlay_moved: ['The data was moved to another database, and this one only answers reads: try again in a moment.', 30],
}

/** The error for a write that `inlay move` refuses; undefined for any other failure. */
export function movingFailure(cause: unknown): InlayError | undefined {
  const [message, retryAfterSeconds] = sentences[cause instanceof Error ? cause.message : ''] ?? []
  if (message === undefined) return undefined
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: true, data: { retryAfterSeconds } })
}
