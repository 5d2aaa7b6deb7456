import { InlayError, isInlayError } from './errors/error-codes.ts'

/** Calls a hook of a host. @throws its InlayError; HOOK_EXECUTION_FAILED for any other error, which goes to `onError` */
export async function callHook<Answer>(
  call: () => Promise<Answer> | Answer,
  onError: (error: unknown) => void,
  message?: string,
): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    if (isInlayError(error)) throw error
    onError(error)
    throw new InlayError('HOOK_EXECUTION_FAILED', { cause: error, ...(message !== undefined && { message }) })
  }
}
