import { InlayError } from '@inlay/protocol'
import type { Reply } from './replies.ts'
import type { KeyWatch } from './route.ts'

/** Ends a streamed response when the caller's key becomes invalid. */
export async function endWithKey(answer: Reply, body: ReadableStream<Uint8Array>, watchKey: KeyWatch): Promise<Reply> {
  const over = new AbortController()
  const refused = Promise.withResolvers<never>()
  refused.promise.catch(() => {})
  if (!(await watchKey(() => refused.reject(new InlayError('INVALID_TOKEN')), over.signal))) return answer
  const reader = body.getReader()
  const end = (reason: unknown): Promise<void> => {
    over.abort()
    return reader.cancel(reason)
  }
  const watched = new ReadableStream<Uint8Array>(
    {
      start: (controller) =>
        void refused.promise.catch((error: unknown) => {
          controller.error(error)
          void end(error).catch(() => {})
        }),
      pull: async (controller) => {
        const { done, value } = await Promise.race([reader.read(), refused.promise])
        if (!done) return controller.enqueue(value)
        over.abort()
        controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  return { ...answer, body: watched }
}
