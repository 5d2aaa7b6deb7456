/** Ends answers that other processes left behind. */
export interface AbandonedCheck {
  /** Resolves once the first check is through; a failed one is made again at the next call. */
  checked(): Promise<void>
  close(): void
}

/**
 * Makes the check: once before the first use, and again whenever the lease of another running answer may have run out.
 * @param terminate ends what is abandoned; gives milliseconds until more could be, undefined when nothing else runs
 */
export function createAbandonedCheck(
  terminate: () => Promise<number | undefined>,
  onError: (error: unknown) => void,
): AbandonedCheck {
  let first: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  const check = async (): Promise<void> => {
    const nextMs = await terminate()
    if (nextMs === undefined || isClosed) return
    timer = setTimeout(() => void check().catch(onError), nextMs + 1)
    timer.unref?.()
  }
  return {
    checked: async () => {
      first ??= check()
      try {
        await first
      } catch (error) {
        first = undefined
        throw error
      }
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
