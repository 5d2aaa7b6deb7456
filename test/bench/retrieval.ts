/**
 * Measures how well documents are found, against LanceDB alone in the same run.
 *
 *   node --conditions=@inlay/source test/bench/retrieval.ts <folder> [<folder> …]
 *     --per-query <file>   writes one line of JSON for each question, system and variant
 *     --typo-seed <n>      seed of the misspelt variant, default 1
 *     --quick              a set that is made up, instead of folders
 *
 * A folder is in BEIR's layout: corpus.jsonl, queries.jsonl, qrels.tsv (or qrels/test.tsv). With an embedding model
 * (INLAY_BENCH_EMBEDDING_URL, _MODEL, _DIMENSIONS, and _KEY if needed) hybrid search and vectors alone join in.
 * Ends with 1 when Inlay ranks worse than LanceDB's full text alone on any of the sets.
 */
import { appendFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import type { Embedder } from '@inlay/knowledge'
import { figuresOf, meanOf, type RankingFigures } from './retrieval-figures.ts'
import { leaveOut, note as noteFigure } from './figures.ts'
import { madeSet, readSet, type RetrievalSet } from './retrieval-set.ts'
import { inlaySystem, textSystem, vectorSystem, type RankingSystem } from './retrieval-systems.ts'
import { misspell, seededRandom } from './typos.ts'

process.env['LANCEDB_LOG'] ??= 'error'

const variants = ['as asked', 'misspelt'] as const

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    'per-query': { type: 'string' },
    'typo-seed': { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
  },
})
if (folders.length === 0 && !options.quick) {
  console.error('Name at least one folder with corpus.jsonl, queries.jsonl and qrels.tsv.')
  process.exit(2)
}
if (options['per-query']) writeFileSync(options['per-query'], '')

let isWorse = false
if (options.quick) leaveOut('sets of real questions; 40 made-up ones stand for them')
for (const set of options.quick ? [madeSet()] : folders.map(readSet)) {
  console.log(`\n${set.name}: ${set.documents.length} documents, ${set.queries.length} questions`)
  console.log(`${''.padEnd(32)}nDCG@10  recall@20  recall@100     MRR  ms a question`)
  const systems = await startSystems(set, configuredEmbedder())
  for (const variant of variants) {
    const measured = new Map<string, number>()
    for (const system of systems) measured.set(system.name, (await measure(system, set, variant)).ndcg10)
    if (measured.get('inlay')! < measured.get('LanceDB full text')!) isWorse = true
  }
  for (const system of systems) await system.close()
}
if (isWorse) console.error('\nWorse than full text alone.')
process.exitCode = isWorse ? 1 : 0

function configuredEmbedder(): Embedder | undefined {
  const { INLAY_BENCH_EMBEDDING_URL: baseUrl, INLAY_BENCH_EMBEDDING_MODEL: model = 'default' } = process.env
  if (!baseUrl) return undefined
  const { INLAY_BENCH_EMBEDDING_DIMENSIONS: dimensions, INLAY_BENCH_EMBEDDING_KEY: apiKey } = process.env
  return openaiEmbedder({ baseUrl, model, dimensions: Number(dimensions), apiKey })
}

async function startSystems(set: RetrievalSet, embedder: Embedder | undefined): Promise<RankingSystem[]> {
  const systems = [await inlaySystem(set), await textSystem(set)]
  if (embedder) systems.push(await inlaySystem(set, embedder), await vectorSystem(set, embedder))
  return systems
}

async function measure(
  system: RankingSystem,
  set: RetrievalSet,
  variant: (typeof variants)[number],
): Promise<RankingFigures> {
  const random = seededRandom(Number(options['typo-seed']))
  const all: RankingFigures[] = []
  const begun = performance.now()
  for (const { id, text } of set.queries) {
    const request = variant === 'misspelt' ? misspell(text, random) : text
    const ranking = await system.rank(request)
    const figures = figuresOf(ranking, set.grades.get(id)!)
    all.push(figures)
    note({ set: set.name, system: system.name, variant, id, text: request, ...figures, ranking: ranking.slice(0, 10) })
  }
  const mean = meanOf(all)
  const took = (performance.now() - begun) / Math.max(1, set.queries.length)
  const cells = [mean.ndcg10, mean.recall20, mean.recall100, mean.mrr].map((value) => value.toFixed(4))
  const label = `${system.name}, ${variant}`.padEnd(32)
  noteFigure(`retrieval, ${system.name}, ${variant}, nDCG@10`, mean.ndcg10)
  console.log(`${label} ${cells[0]}     ${cells[1]}      ${cells[2]}  ${cells[3]}  ${took.toFixed(1).padStart(13)}`)
  return mean
}

function note(line: Readonly<Record<string, unknown>>): void {
  if (options['per-query']) appendFileSync(options['per-query'], `${JSON.stringify(line)}\n`)
}
