import { setTimeout as delay } from 'node:timers/promises'
import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import type { Embedder } from '@inlay/knowledge'
import type { IngestionRequest } from '@inlay/protocol'
import { note } from '../figures.ts'
import { inParallel, openFixture } from './fixture.ts'

const textMs = 5

type Batch = readonly string[]

/**
 * Times documents from the first acceptance until all of them can be found, beside the embedder alone with the same
 * texts in the same batches. With an embedding model (INLAY_BENCH_EMBEDDING_URL, _MODEL, _DIMENSIONS) that one is
 * called, else one that takes 5 ms a text, one call after the other, and no processor.
 */
export async function embedding(requests: readonly IngestionRequest[], rounds: number): Promise<void> {
  const { INLAY_BENCH_EMBEDDING_URL: baseUrl, INLAY_BENCH_EMBEDDING_MODEL: model = 'default' } = process.env
  const dimensions = Number(process.env['INLAY_BENCH_EMBEDDING_DIMENSIONS'] ?? 384)
  const embedder = baseUrl ? openaiEmbedder({ baseUrl, model, dimensions }) : steadyEmbedder(dimensions)
  const label = `embedding, ${baseUrl ? model : `${textMs} ms a text`}, ${requests.length} documents`
  let batches = (await index(requests, embedder)).batches
  const ratios: number[] = []
  for (let round = 1; round <= rounds; round++) {
    // Either goes first in turn, so that a machine that changes treats both alike.
    const early = round % 2 === 0 ? await rateOf(batches, embedder) : undefined
    const indexed = await index(requests, embedder)
    batches = indexed.batches
    const bare = early ?? (await rateOf(batches, embedder))
    const ratio = indexed.rate / bare
    ratios.push(ratio)
    console.log(
      `${label}, round ${round}: ours ${indexed.rate.toFixed(1)} chunks/s in ${batches.length} calls, ` +
        `embedder alone ${bare.toFixed(1)}/s: ratio ${ratio.toFixed(3)}`,
    )
  }
  const sorted = ratios.toSorted((left, right) => left - right)
  const median = (sorted[rounds / 2 - 1]! + sorted[rounds / 2]!) / 2
  note('ingestion, embedding over the embedder alone', median)
  console.log(`${label}: ratio ${median.toFixed(3)} (${sorted[0]!.toFixed(3)} to ${sorted.at(-1)!.toFixed(3)})`)
}

async function index(
  requests: readonly IngestionRequest[],
  embedder: Embedder,
): Promise<{ readonly rate: number; readonly batches: readonly Batch[] }> {
  const batches: Batch[] = []
  const recorded: Embedder = {
    ...embedder,
    embed: (texts, use, signal) => {
      batches.push(texts)
      return embedder.embed(texts, use, signal)
    },
  }
  const { knowledge, close } = await openFixture({ embedder: recorded })
  await knowledge.start()
  await knowledge.figures()
  const begun = performance.now()
  await inParallel(50, requests, (request) => knowledge.accept(request))
  await knowledge.whenIdle()
  const ms = performance.now() - begun
  const { documents } = await knowledge.figures()
  await close()
  if (documents.failed > 0) throw new Error(`${documents.failed} documents could not be indexed.`)
  return { rate: (batches.flat().length / ms) * 1000, batches }
}

/** Texts a second. */
async function rateOf(batches: readonly Batch[], embedder: Embedder): Promise<number> {
  const begun = performance.now()
  for (const batch of batches) await embedder.embed(batch, 'document')
  return (batches.flat().length / (performance.now() - begun)) * 1000
}

function steadyEmbedder(dimensions: number): Embedder {
  const vector = Float32Array.from({ length: dimensions }, (_, at) => Math.sin(at + 1))
  let last: Promise<unknown> = Promise.resolve()
  return {
    id: `steady@${dimensions}`,
    dimensions,
    maxBatchSize: 96,
    embed: async (texts) => {
      last = last.then(() => delay(texts.length * textMs))
      await last
      return texts.map(() => vector)
    },
  }
}
