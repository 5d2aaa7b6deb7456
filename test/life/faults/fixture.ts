import { expect, onTestFinished } from 'vitest'
import { startEmbeddings, type EmbeddingsStandIn } from '../../stand-in/embeddings.ts'
import { openHarness, testFolder, type Harness } from '../harness.ts'
import type { Breakable } from './broken.ts'

/** A word that only the document of an id has. */
export const markerOf = (id: string): string => `marker${id}x`

/** Posts documents at once; answers the ids that were accepted. */
export async function postAll(harness: Harness, ids: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(ids.map((id) => harness.post(id, `a text with ${markerOf(id)} in it`)))
  return ids.filter((_, at) => answers[at]!.status === 200)
}

/** This many ids with a common prefix. */
export const named = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${'abcdefgh'[at]}`)

/** Waits until documents are indexed, and finds each by its word. */
export async function expectFound(harness: Harness, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await harness.until(id, 'indexed')
    expect(await harness.find(markerOf(id)), id).toEqual([id])
  }
}

/** Waits until something has failed so often. */
export const failed = (broken: Breakable, times: number): Promise<void> =>
  expect.poll(() => broken.failures, { timeout: 60_000 }).toBeGreaterThanOrEqual(times)

/** A harness with one document, whose embedder calls a stand-in. */
export async function openWithEmbedder(
  options: { timeoutMs?: number } = {},
): Promise<{ harness: Harness; service: EmbeddingsStandIn }> {
  const service = await startEmbeddings({ dimensions: 16 })
  onTestFinished(() => service.close())
  const { openaiEmbedder } = await import('@inlay/drivers/openai-embedder')
  const embedder = openaiEmbedder({
    baseUrl: service.baseUrl,
    model: 'stand-in',
    dimensions: 16,
    attempts: 2,
    sleep: async () => {},
    ...options,
  })
  const harness = openHarness({ dataFolder: testFolder(), embedder })
  await expectFound(harness, await postAll(harness, ['first']))
  return { harness, service }
}
