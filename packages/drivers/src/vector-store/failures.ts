import { InlayError, isInlayError } from '@inlay/protocol'

/** Runs a call to the vector store; errors become SERVICE_UNAVAILABLE. */
export async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isInlayError(error)) throw error
    throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The vector store of the index failed.', cause: error })
  }
}
