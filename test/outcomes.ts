import { isInlayError } from '@inlay/protocol'

/** The code a work fails with; `none` when it does not. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (isInlayError(error) ? error.code : `no InlayError: ${String(error)}`),
  )
}
