import type { Embedder } from '@inlay/knowledge'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startEmbeddings, type EmbeddingsStandIn, type Mishap } from '../../stand-in/embeddings.ts'

export const apiKey = 'sk-very-secret-0123456789'

/** A server of embeddings for each test, with what an embedder waited before it asked again. */
export interface TestServer {
  server: EmbeddingsStandIn
  delays: number[]
  readonly failing: (...mishaps: Mishap[]) => void
}

export function useEmbeddings(): TestServer {
  const test = { failing: (...mishaps: Mishap[]) => void test.server.mishaps.push(...mishaps) } as TestServer
  beforeEach(async () => {
    test.server = await startEmbeddings({ apiKey })
    test.delays = []
  })
  afterEach(() => test.server.close())
  return test
}

/** Tests of failures that every HTTP embedder shares. @param statuses with the code that each is reported as */
export function failureTests(
  test: TestServer,
  embedder: (options?: { readonly attempts: number; readonly timeoutMs: number }) => Embedder,
  statuses: readonly (readonly [status: number, code: string])[],
): void {
  describe('a failure that may pass', () => {
    it('is a time-out when nothing comes', async () => {
      test.failing({ hangs: true })
      await expect(embedder({ attempts: 1, timeoutMs: 30 }).embed(['a'], 'query')).rejects.toMatchObject({
        code: 'GATEWAY_TIMEOUT',
      })
    })

    it('is not tried again once the caller has gone', async () => {
      const controller = new AbortController()
      test.failing({ hangs: true })
      const call = embedder().embed(['a'], 'query', controller.signal)
      await expect.poll(() => test.server.seen.length).toBe(1)
      controller.abort(new Error('gone'))
      await expect(call).rejects.toThrow('gone')
      expect(test.server.seen).toHaveLength(1)
    })
  })

  describe('a failure that will not pass', () => {
    it.each(statuses)('is reported at once: %i is %s', async (status, code) => {
      test.failing({ status })
      const call = embedder().embed(['a'], 'query')
      await expect(call).rejects.toMatchObject({ code, retryable: false, data: { status } })
      expect(test.server.seen).toHaveLength(1)
    })
  })
}
