/**
 * Compares finding documents with other libraries: the same documents and questions, quality and speed. Search libraries
 * and Inlay by words alone; then libraries that search by vectors, and Inlay with the same embedder.
 *
 *   npm run -w test/rigs bench:peers -- <folder> [<folder> …] [--quick]
 *
 * A folder is in BEIR's layout; see `bench:retrieval`. Without folders, and with `--quick`, a made-up set is used. A
 * library that is not installed is left out. The embedder is INLAY_BENCH_EMBEDDING_URL, _MODEL, _DIMENSIONS, or hashes
 * words and their pieces, which needs no model.
 */
import { parseArgs } from 'node:util'
import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import type { Embedder } from '@inlay/knowledge'
import { leaveOut, note } from '../bench/figures.ts'
import { dimensions as hashedDimensions, embed as hashed } from './peers/embedder.mjs'
import { vectorPeers, wordPeers } from './peers/systems.mjs'
import { figuresOf, meanOf } from '../bench/retrieval-figures.ts'
import { madeSet, readSet, type RetrievalSet } from '../bench/retrieval-set.ts'
import { diskTextSystem, inlaySystem, textSystem, type RankingSystem } from '../bench/retrieval-systems.ts'
import { percentile } from '../bench/timing.ts'
import { misspell, seededRandom } from '../bench/typos.ts'

process.env['LANCEDB_LOG'] ??= 'error'

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
})
const depth = 10
const embedder = embedderOf(process.env)
const systems: Readonly<Record<string, (set: RetrievalSet) => Promise<RankingSystem>>> = {
  inlay: (set) => inlaySystem(set, { depth }),
  'LanceDB full text': (set) => textSystem(set, depth),
  'LanceDB on disk': (set) => diskTextSystem(set, depth),
  ...openersOf(wordPeers),
  'inlay, hybrid': (set) => inlaySystem(set, { depth, embedder }),
  ...openersOf(vectorPeers),
}

if (options.quick) leaveOut('libraries that are not installed, and sets of real questions')
for (const set of options.quick || folders.length === 0 ? [madeSet()] : folders.map(readSet)) {
  console.log(`\n${set.name}: ${set.documents.length} documents, ${set.queries.length} questions`)
  console.log(`${''.padEnd(20)} index ms  nDCG@10     MRR  misspelt nDCG@10   p50 ms   p95 ms`)
  for (const [name, open] of Object.entries(systems)) await compare(name, open, set)
}

function openersOf(peers: typeof wordPeers | typeof vectorPeers): typeof systems {
  const embed = async (texts: readonly string[], use: 'document' | 'query'): Promise<number[][]> => {
    const vectors: number[][] = []
    for (let at = 0; at < texts.length; at += embedder.maxBatchSize)
      for (const vector of await embedder.embed(texts.slice(at, at + embedder.maxBatchSize), use))
        vectors.push([...vector])
    return vectors
  }
  const opener =
    (name: string) =>
    async (set: RetrievalSet): Promise<RankingSystem> => {
      const search = await peers[name]!(set.documents, embed)
      return { name, rank: async (query) => [...(await search(query, depth))], close: async () => {} }
    }
  return Object.fromEntries(Object.keys(peers).map((name) => [name, opener(name)]))
}

function embedderOf({
  INLAY_BENCH_EMBEDDING_URL: baseUrl,
  INLAY_BENCH_EMBEDDING_MODEL: model = 'default',
  INLAY_BENCH_EMBEDDING_DIMENSIONS: dimensions = '384',
}: NodeJS.ProcessEnv): Embedder {
  if (baseUrl) return openaiEmbedder({ baseUrl, model, dimensions: Number(dimensions) })
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => texts.map(hashed)
  return { id: `hashed@${hashedDimensions}`, dimensions: hashedDimensions, maxBatchSize: 256, embed }
}

async function compare(
  name: string,
  open: (set: RetrievalSet) => Promise<RankingSystem>,
  set: RetrievalSet,
): Promise<void> {
  const begun = performance.now()
  let system: RankingSystem
  try {
    system = await open(set)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.log(`${name.padEnd(20)} is not installed`)
    return
  }
  const indexMs = performance.now() - begun
  const random = seededRandom(1)
  const times: number[] = []
  const measure = async (variant: (text: string) => string): Promise<ReturnType<typeof meanOf>> => {
    const all = []
    for (const { id, text } of set.queries) {
      const query = variant(text)
      const from = performance.now()
      const ranking = await system.rank(query)
      times.push(performance.now() - from)
      all.push(figuresOf(ranking.slice(0, depth), set.grades.get(id)!))
    }
    return meanOf(all)
  }
  for (const { text } of set.queries.slice(0, 20)) await system.rank(text)
  const unchanged = await measure((text) => text)
  const sorted = times.splice(0).toSorted((left, right) => left - right)
  const misspelt = await measure((text) => misspell(text, random))
  await system.close()
  const [p50, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)]
  console.log(
    `${name.padEnd(20)} ${indexMs.toFixed(0).padStart(8)}   ${unchanged.ndcg10.toFixed(4)}  ${unchanged.mrr.toFixed(4)}` +
      `            ${misspelt.ndcg10.toFixed(4)} ${p50.toFixed(2).padStart(8)} ${p95.toFixed(2).padStart(8)}`,
  )
  note(`peers, ${set.name}, ${name}, nDCG@10`, unchanged.ndcg10)
  note(`peers, ${set.name}, ${name}, search p50, ms`, p50)
}
