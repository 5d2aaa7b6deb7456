import { isInlayError } from '@inlay/protocol'
import { toFailure } from '../../service/failure.ts'

export interface ManyProgress {
  readonly done: number
  readonly total: number
}

export type ManyReport = Awaited<ReturnType<typeof actOnMany>>

interface ManyOptions {
  readonly signal: AbortSignal
  readonly onProgress: (progress: ManyProgress) => void
  /** Waits, in milliseconds, or until it is stopped. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

const concurrency = 4
/** Times a document is tried again after the server asked to wait. */
const maxRetries = 5

/** Does the same to many documents. Goes on after a failure, unless the server cannot be reached. */
export async function actOnMany<Document extends { readonly id: string; readonly title: string }>(
  documents: readonly Document[],
  act: (document: Document) => Promise<unknown>,
  { signal, onProgress, wait }: ManyOptions,
) {
  const done: string[] = []
  const failed = new Map<string, string[]>()
  let isUnreachable = false
  const queue = documents.values()
  const actOn = async (document: Document): Promise<void> => {
    for (let retries = 0; ; retries++)
      try {
        await act(document)
        done.push(document.id)
        return
      } catch (error) {
        const { message, waitSeconds } = toFailure(error)
        if (waitSeconds !== undefined && retries < maxRetries && !signal.aborted) {
          await wait(waitSeconds * 1000, signal)
          if (signal.aborted) return
          continue
        }
        if (error instanceof TypeError || (isInlayError(error) && error.code === 'CONNECTION_ERROR'))
          isUnreachable = true
        const titles = failed.get(message)
        if (titles === undefined) failed.set(message, [document.title])
        else titles.push(document.title)
        return
      }
  }
  const work = async (): Promise<void> => {
    while (!signal.aborted && !isUnreachable) {
      const { value, done: isOver } = queue.next()
      if (isOver === true) return
      await actOn(value)
      onProgress({ done: done.length, total: documents.length })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const groups = [...failed].map(([reason, titles]) => ({ reason, titles }))
  const failures = groups.reduce((sum, { titles }) => sum + titles.length, 0)
  return {
    /** Ids of the documents for which it succeeded. */
    done,
    failed: groups,
    /** Number of documents not processed, since the action was stopped or the server is unreachable. */
    left: documents.length - done.length - failures,
  }
}
