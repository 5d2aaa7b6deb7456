/**
 * Measures how well documents are found, against LanceDB alone in the same run.
 *
 *   node --conditions=@inlay/source test/bench/retrieval.ts <folder> [<folder> …]
 *     --per-query <file>   writes one line of JSON for each question, system and variant
 *     --typo-seed <n>      seed of the misspelt variant, default 1
 *     --quick              a set that is made up, instead of folders
 *     --embedder <name>    an embedding model in this process, as in `INLAY_EMBEDDING_MODEL=local/<name>`; repeatable
 *     --models <folder>    folder of its weights, default data/models
 *     --vectors <folder>   keeps vectors for later runs
 *
 * A folder is in BEIR's layout: corpus.jsonl, queries.jsonl, qrels.tsv (or qrels/test.tsv). With an embedding model
 * (--embedder, or INLAY_BENCH_EMBEDDING_URL, _MODEL, _DIMENSIONS, and _KEY if needed) hybrid search, vectors alone and
 * reciprocal ranks join in, and a table at the end compares them. Ends with 1 when, on any of the sets, Inlay ranks worse
 * than LanceDB's full text alone, or hybrid search more than .01 below the better of words and vectors.
 */
import { appendFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { localEmbedder } from '@inlay/drivers/local-models'
import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import type { Embedder } from '@inlay/knowledge'
import { figuresOf, meanOf, type RankingFigures } from './retrieval-figures.ts'
import { leaveOut, note as noteFigure } from './figures.ts'
import { keptVectors } from './kept-vectors.ts'
import { madeSet, readSet, type RetrievalSet } from './retrieval-set.ts'
import { inlaySystem, reciprocalRanks, textSystem, vectorSystem, type RankingSystem } from './retrieval-systems.ts'
import { misspell, seededRandom } from './typos.ts'

process.env['LANCEDB_LOG'] ??= 'error'

const variants = ['as asked', 'misspelt'] as const
const nameWidth = 48
const hybridOf = (model: string): string => `inlay, hybrid, ${model}`
const vectorsOf = (model: string): string => `LanceDB vectors, ${model}`
const ranksOf = (model: string): string => `reciprocal ranks, ${model}`

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    'per-query': { type: 'string' },
    'typo-seed': { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    embedder: { type: 'string', multiple: true, default: [] },
    models: { type: 'string', default: 'data/models' },
    vectors: { type: 'string' },
  },
})
if (folders.length === 0 && !options.quick) {
  console.error('Name at least one folder with corpus.jsonl, queries.jsonl and qrels.tsv.')
  process.exit(2)
}
if (options['per-query']) writeFileSync(options['per-query'], '')

/** nDCG@10 by system, for one set as asked or misspelt. */
interface Row {
  readonly set: string
  readonly variant: string
  readonly figures: ReadonlyMap<string, number>
}
/** Names of systems. */
const [words, fullText] = ['inlay', 'LanceDB full text']
/** How far hybrid search may rank below the better of words and vectors. */
const tolerance = 0.01

const embedders = configuredEmbedders()
const rows: Row[] = []
if (options.quick) leaveOut('sets of real questions; 40 made-up ones stand for them')
for (const set of options.quick ? [madeSet()] : folders.map(readSet)) {
  console.log(`\n${set.name}: ${set.documents.length} documents, ${set.queries.length} questions`)
  console.log(`${''.padEnd(nameWidth)}nDCG@10  recall@20  recall@100     MRR  ms a question`)
  const systems = await startSystems(set)
  for (const variant of variants) {
    const figures = new Map<string, number>()
    for (const system of systems) figures.set(system.name, (await measure(system, set, variant)).ndcg10)
    rows.push({ set: set.name, variant, figures })
  }
  for (const system of systems) await system.close()
}
const isWorse = rows.some(({ figures }) => figures.get(words)! < figures.get(fullText)!)
if (isWorse) console.error('\nWorse than full text alone.')
const isWorseThanSide = [...embedders.keys()].map(compareFusion).includes(true)
process.exitCode = isWorse || isWorseThanSide ? 1 : 0

function configuredEmbedders(): ReadonlyMap<string, Embedder> {
  const embedders = new Map<string, Embedder>()
  for (const name of options.embedder) {
    const model = name.replace(/^local\//, '')
    embedders.set(model, localEmbedder({ model, folder: options.models, dimensions: 384 }))
  }
  const { INLAY_BENCH_EMBEDDING_URL: baseUrl, INLAY_BENCH_EMBEDDING_MODEL: model = 'default' } = process.env
  const { INLAY_BENCH_EMBEDDING_DIMENSIONS: dimensions, INLAY_BENCH_EMBEDDING_KEY: apiKey } = process.env
  if (baseUrl) embedders.set(model, openaiEmbedder({ baseUrl, model, dimensions: Number(dimensions), apiKey }))
  return new Map([...embedders].map(([name, embedder]) => [name, keptVectors(embedder, options.vectors)]))
}

async function startSystems(set: RetrievalSet): Promise<RankingSystem[]> {
  const systems = [await inlaySystem(set), await textSystem(set)]
  for (const [name, embedder] of embedders) {
    const vectors = await vectorSystem(set, embedder, vectorsOf(name))
    systems.push(
      await inlaySystem(set, { embedder, name: hybridOf(name) }),
      vectors,
      reciprocalRanks([systems[0]!, vectors], ranksOf(name)),
    )
  }
  return systems
}

/** Prints hybrid search of one model beside its sides; returns whether it is worse than one of them. */
function compareFusion(model: string): boolean {
  console.log(
    `\n${model}, nDCG@10`.padEnd(nameWidth) + '    words  vectors  reciprocal ranks  hybrid  above the better side',
  )
  const margins = rows.map(({ set, variant, figures }) => {
    const names = [words, vectorsOf(model), ranksOf(model), hybridOf(model)]
    const [byWords, byVectors, byRanks, hybrid] = names.map((name) => figures.get(name)!) as [
      number,
      number,
      number,
      number,
    ]
    const margin = hybrid - Math.max(byWords, byVectors)
    const cells = [
      byWords,
      byVectors,
      byRanks.toFixed(4).padStart(16),
      hybrid,
      `${margin < 0 ? '' : '+'}${margin.toFixed(4)}`,
    ]
    const line = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(4) : cell)).join('   ')
    console.log(`${`${set}, ${variant}`.padEnd(nameWidth)}${line}`)
    return margin
  })
  const worst = Math.min(...margins)
  if (worst < -tolerance) console.error(`Hybrid search is up to ${(-worst).toFixed(4)} below the better side.`)
  return worst < -tolerance
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
  const label = `${system.name}, ${variant}`.padEnd(nameWidth)
  noteFigure(`retrieval, ${system.name}, ${variant}, nDCG@10`, mean.ndcg10)
  console.log(`${label} ${cells[0]}     ${cells[1]}      ${cells[2]}  ${cells[3]}  ${took.toFixed(1).padStart(13)}`)
  return mean
}

function note(line: Readonly<Record<string, unknown>>): void {
  if (options['per-query']) appendFileSync(options['per-query'], `${JSON.stringify(line)}\n`)
}
