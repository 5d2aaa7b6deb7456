import type { Failure } from '@inlay/client/conversation'
import { isInlayError } from '@inlay/protocol'
import { texts } from '../texts/texts.ts'

export type { Failure }

export function toFailure(error: unknown): Failure {
  if (isInlayError(error)) {
    if (error.code === 'UNAUTHENTICATED' || error.code === 'INVALID_TOKEN')
      return { message: texts.frame.keyIsRefused, retryable: false }
    if (error.code === 'SESSION_NOT_FOUND') return { message: texts.frame.chatIsGone, retryable: false }
    if (error.code === 'CONNECTION_ERROR') return unreachable()
    const { retryAfterSeconds: seconds } = error.data
    return {
      message: error.message,
      retryable: error.retryable,
      ...(error.code === 'RATE_LIMITED' && typeof seconds === 'number' && { waitSeconds: seconds }),
    }
  }
  // `fetch` rejects with a TypeError if there is no connection.
  if (error instanceof TypeError) return unreachable()
  return { message: texts.frame.pageFailed, retryable: true }
}

/** Whether the server is out of reach as the device has no network: one on this machine needs none. */
export const isOffline = (): boolean =>
  navigator.onLine === false && !/^(localhost|127\..+|\[::1\])$/.test(location.hostname)

const unreachable = (): Failure => ({
  message: isOffline() ? texts.frame.offline : texts.frame.unreachable,
  retryable: true,
})
