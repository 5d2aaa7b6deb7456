/**
 * Measures the built-in model with `inlay eval` on questions whose answers or sources are known.
 *
 *   INLAY_BENCH_CORPORA=<folder> npm run bench:answers [-- <set> …] [--limit <first questions of each>]
 *   npm run bench:answers -- --quick      documents and questions that are made up
 *
 * For each set the folder holds `retrieval/<set>/corpus.jsonl` ({_id, title, text}), and either `answers/<set>.jsonl`
 * ({question, answers, document}) or BEIR's `queries.jsonl` and `qrels.tsv` beside the corpus, of which only the source
 * is known. Every tenth of the documents asked about is left out: its questions are to be refused.
 *
 * Questions of sets that the rules were made with are marked as tuned, so their figures are headed so: they are no measure of
 * other documents, and the docs show none of them.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { createInlay, nodeListener } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { toTable, type EvaluationReport } from '@inlay/evaluation'
import { leaveOut, note } from './figures.ts'
import { readSet } from './retrieval-set.ts'

process.env['LANCEDB_LOG'] ??= 'error'
const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, limit: { type: 'string' } },
})
/** Sets whose questions were looked at while rules and bounds of the built-in model were chosen. */
const fitted = /^(?:xquad|tldr)-/

const corpora = options.quick ? madeCorpora() : process.env['INLAY_BENCH_CORPORA']
if (!corpora) {
  console.error('Name the folder of the corpora by INLAY_BENCH_CORPORA; --quick makes its own documents up.')
  process.exit(2)
}

interface CorpusDocument {
  readonly _id: string
  readonly title: string
  readonly text: string
}

interface KnownQuestion {
  readonly question: string
  readonly answers?: readonly string[]
  /** Any of them answers. */
  readonly document: string | readonly string[]
}

const apiKey = 'key-of-the-bench'
const linesOf = <Line>(file: string): Line[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
const known = readdirSync(join(corpora, 'retrieval'))
const sets = (named.length > 0 ? named : known).filter((set) => existsSync(corpusOf(set)))

if (options.quick) leaveOut('sets of real questions; 20 made-up ones stand for them')
const [published, others] = [sets.filter((set) => !fitted.test(set)), sets.filter((set) => fitted.test(set))]
for (const set of published) await measure(set)
if (others.length > 0) console.log('\nSets that rules were made with. These figures are no measure of other documents:')
for (const set of others) await measure(set)
if (options.quick) rmSync(corpora, { recursive: true, force: true })

function corpusOf(set: string): string {
  return join(corpora!, 'retrieval', set, 'corpus.jsonl')
}

/** The questions of a set, with a document that answers each. */
function questionsOf(set: string): KnownQuestion[] {
  const file = join(corpora!, 'answers', `${basename(set)}.jsonl`)
  if (existsSync(file)) return linesOf<KnownQuestion>(file)
  const { queries, grades } = readSet(join(corpora!, 'retrieval', set))
  return queries.map(({ id, text }) => ({ question: text, document: [...grades.get(id)!.keys()] }))
}

/** Offices with a number of days each, and questions for it. */
function madeCorpora(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-made-'))
  const towns = 'Aldern Brost Calwick Dorvale Elmsby Farrow Glenholt Harwick Istead Jorby'.split(' ')
  const lines = (items: readonly object[]): string => items.map((item) => JSON.stringify(item)).join('\n')
  const documents = towns.map((town, at) => ({
    _id: town,
    title: `Office of ${town}`,
    text: `Staff of the office of ${town} receive ${20 + at} days of paid leave a year. The office of ${town} opens at ${6 + (at % 5)} o'clock.`,
  }))
  const questions = towns.flatMap((town, at) => [
    {
      question: `How many days of paid leave do staff of ${town} receive?`,
      answers: [`${20 + at} days`],
      document: town,
    },
    { question: `When does the office of ${town} open?`, answers: [`${6 + (at % 5)} o'clock`], document: town },
  ])
  mkdirSync(join(folder, 'retrieval/made'), { recursive: true })
  mkdirSync(join(folder, 'answers'))
  writeFileSync(join(folder, 'retrieval/made/corpus.jsonl'), lines(documents))
  writeFileSync(join(folder, 'answers/made.jsonl'), lines(questions))
  return folder
}

async function measure(set: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-'))
  const inlay = createInlay({ dataFolder: join(folder, 'data'), apiKey })
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  const documents = linesOf<CorpusDocument>(corpusOf(set))
  const all = questionsOf(set)
  const sources = [...new Set(all.flatMap(({ document }) => document))]
  const absent = new Set(sources.filter((_, at) => at % 10 === 9))
  const questions = all.map((item) => {
    const left = [item.document].flat().filter((source) => !absent.has(source))
    const tuned = fitted.test(set)
    return left.length === 0 ? { question: item.question, absent: true, tuned } : { ...item, document: left, tuned }
  })
  await ingest(
    address,
    documents.filter(({ _id }) => !absent.has(_id)),
  )
  await inlay.knowledge.whenIdle()
  const file = join(folder, 'questions.jsonl')
  writeFileSync(file, questions.map((question) => JSON.stringify(question)).join('\n'))
  console.log(`\n${set}: ${documents.length - absent.size} documents`)
  let written = ''
  await runCommandLine(
    ['eval', file, address, '--key', apiKey, '--json', ...(options.limit ? ['--limit', options.limit] : [])],
    {
      env: () => ({}),
      stdout: { write: (text: string) => ((written += text), true) },
      stderr: { write: () => true },
      signal: new AbortController().signal,
    },
  )
  const report = JSON.parse(written) as EvaluationReport
  for (const line of toTable([{ ...report, name: set }])) console.log(line)
  const { contains, right_source: rightSource } = report.figures
  if (contains !== null) note(`answers, ${set}, answer contains`, contains)
  note(`answers, ${set}, right source first`, rightSource ?? 0)
  server.closeAllConnections()
  server.close()
  await inlay.close()
  rmSync(folder, { recursive: true, force: true })
}

async function ingest(address: string, documents: readonly CorpusDocument[]): Promise<void> {
  const body = documents.map(({ _id, title, text }) =>
    JSON.stringify({
      document: { id: _id, semantic_identifier: title || _id, source: 'file', metadata: {}, sections: [{ text }] },
    }),
  )
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const response = await fetch(`${address}/service-api/ingestion/batch`, {
    method: 'POST',
    headers,
    body: `${body.join('\n')}\n`,
  })
  if (!response.ok) throw new Error(`The documents were not taken: ${response.status} ${await response.text()}`)
  await response.text()
}
