import { isInlayError } from '@inlay/protocol'
import type { Failure } from '../chat/turn.ts'

/** Puts whatever went wrong into words a person can act on. */
export function toFailure(error: unknown): Failure {
  if (isInlayError(error)) {
    if (error.code === 'UNAUTHENTICATED' || error.code === 'INVALID_TOKEN')
      return {
        message: 'The key was not accepted. Open the address that was printed when the server started.',
        retryable: false,
      }
    if (error.code === 'SESSION_NOT_FOUND')
      return { message: 'This conversation is no longer on the server. Begin a new chat.', retryable: false }
    if (error.code === 'CONNECTION_ERROR') return unreachable
    return { message: error.message, retryable: error.retryable }
  }
  // What fetch rejects with when there is no connection.
  if (error instanceof TypeError) return unreachable
  return { message: 'Something went wrong in this page. Reload it, and try again.', retryable: true }
}

const unreachable: Failure = {
  message: 'The server cannot be reached. Check that it is still running, then try again.',
  retryable: true,
}
