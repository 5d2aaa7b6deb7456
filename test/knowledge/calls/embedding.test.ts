import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import { EmbeddingCalls } from '@inlay/knowledge/internal/calls/embedding'
import type { Embedder } from '@inlay/knowledge'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSlowEmbedder } from '../../stand-in/slow-embedder.ts'
import { fakeEmbedder } from '../fake-embedder.ts'

const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `text ${at}`)

/** An embedder on a clock of its own: a call takes so long, and times out when it would take too long. */
function clocked(msPerText: () => number, batch = 256) {
  const clock = { now: 0 }
  const sizes: number[] = []
  const inner = fakeEmbedder()
  const embedder: Embedder = {
    ...inner,
    maxBatchSize: batch,
    embed: async (given, use) => {
      sizes.push(given.length)
      clock.now += given.length * msPerText()
      return inner.embed(given, use)
    },
  }
  const calls = new EmbeddingCalls({ embedder, onError: () => {}, elapsedMs: () => clock.now })
  return { calls, sizes, clock }
}

test('batches grow with a quick embedder, up to what it takes', async () => {
  const { calls, sizes } = clocked(() => 1, 96)
  await calls.embedDocuments(texts(400))
  expect(sizes).toEqual([8, 16, 32, 64, 96, 96, 88])
})

test('batches of a slow embedder take about a second, and claims fit it', async () => {
  const { calls, sizes } = clocked(() => 250)
  await calls.embedDocuments(texts(30))
  expect(sizes.slice(0, 5)).toEqual([8, 4, 4, 4, 4])
  // Ten seconds: forty texts of seven characters.
  expect(calls.claimCharacters()).toBeGreaterThan(200)
  expect(calls.claimCharacters()).toBeLessThan(320)
})

test('batches are small while queries are asked, and grow again', async () => {
  const { calls, sizes, clock } = clocked(() => 10)
  await calls.embedDocuments(texts(300))
  await calls.embedQuery('a query')
  sizes.length = 0
  await calls.embedDocuments(texts(60))
  expect(sizes).toEqual([15, 15, 15, 15])
  clock.now += 10_000
  sizes.length = 0
  await calls.embedDocuments(texts(200))
  expect(sizes).toEqual([100, 100])
})

test('a batch is half as large after a timeout, what was embedded stays, and batches grow again', async () => {
  let timeUp = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  timeout.mockImplementation(() => (timeUp = new AbortController()).signal)
  onTestFinished(() => timeout.mockRestore())
  const sizes: number[] = []
  let maxTexts = 3
  const inner = fakeEmbedder()
  const embed: Embedder['embed'] = (given, use) => {
    sizes.push(given.length)
    if (given.length <= maxTexts) return inner.embed(given, use)
    timeUp.abort()
    return new Promise(() => {})
  }
  const embedder = { ...inner, maxBatchSize: 256, embed }
  const calls = new EmbeddingCalls({ embedder, documentTimeoutMs: 1000, onError: () => {}, elapsedMs: () => 0 })
  expect(await calls.embedDocuments(texts(6))).toHaveLength(6)
  // Six texts time out; three are answered, and the next batch is as large as may be once more.
  expect(sizes).toEqual([6, 3, 3])
  expect(timeout).toHaveBeenCalledWith(1000)
  maxTexts = 100
  await calls.embedDocuments(texts(40))
  expect(sizes.slice(3)).toEqual([6, 12, 22])
})

test('a query does not wait for documents: these let it pass, and words answer when its vector is late', async () => {
  const server = await startSlowEmbedder({ maxTexts: 0 })
  const embedder = openaiEmbedder({ baseUrl: server.baseUrl, model: 'slow', dimensions: 4 })
  const errors: unknown[] = []
  const calls = new EmbeddingCalls({ embedder, queryTimeoutMs: 30, onError: (error) => errors.push(error) })
  expect(await calls.embedQuery('who')).toBeUndefined()
  expect(await calls.embedQuery('what')).toBeUndefined()
  // Told once, not for each query.
  expect(errors).toMatchObject([{ code: 'GATEWAY_TIMEOUT', message: expect.stringContaining('30 ms') }])
  server.set({ maxTexts: 1 })
  await server.answerHeld()
  await expect.poll(() => calls.embedQuery('who')).toHaveLength(4)
})

test('a model of the Latin script alone is not asked for queries in others', async () => {
  const calls = new EmbeddingCalls({
    embedder: { ...fakeEmbedder(), isLatinOnly: true },
    onError: (error) => expect.fail(String(error)),
  })
  for (const query of ['黑豹队的防守丢了多少分？', 'Сколько дней отпуска?', '휴가는 며칠인가요?'])
    expect(await calls.embedQuery(query)).toBeUndefined()
  for (const query of ['How many days?', 'Wie viele Tage für Ärzte?', '25', 'Was heißt 休假 auf Deutsch?'])
    expect(await calls.embedQuery(query)).toBeDefined()
})

test('documents wait while a query is on its way', async () => {
  const held = Promise.withResolvers<void>()
  const seen: string[] = []
  const inner = fakeEmbedder()
  const embed: Embedder['embed'] = async (given, use) => {
    seen.push(use)
    if (use === 'query') await held.promise
    return inner.embed(given, use)
  }
  const calls = new EmbeddingCalls({ embedder: { ...inner, embed }, queryTimeoutMs: 60_000, onError: () => {} })
  const query = calls.embedQuery('who')
  const documents = calls.embedDocuments(texts(2))
  await new Promise(setImmediate)
  expect(seen).toEqual(['query'])
  held.resolve()
  expect([await query, ...(await documents)]).toHaveLength(3)
  expect(seen).toEqual(['query', 'document'])
})

test('queries do not pile up at an embedder that never answers', async () => {
  const server = await startSlowEmbedder({ maxTexts: 0 })
  const embedder = openaiEmbedder({ baseUrl: server.baseUrl, model: 'slow', dimensions: 4 })
  const calls = new EmbeddingCalls({ embedder, queryTimeoutMs: 5, onError: () => {} })
  for (let at = 0; at < 10; at++) expect(await calls.embedQuery(`query ${at}`)).toBeUndefined()
  expect(server.sizes().length).toBeLessThanOrEqual(4)
})
