import { isInlayError } from '@inlay/protocol'

/** Resolves once the condition holds; fails after a minute. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The condition did not come to hold.')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** The code a work fails with; `none` when it does not. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (isInlayError(error) ? error.code : `no InlayError: ${String(error)}`),
  )
}
