/**
 * Measures the built-in model with `inlay eval` on questions whose answers are known.
 *
 *   INLAY_BENCH_CORPORA=<folder> npm run bench:answers [-- <set> …]
 *
 * For each set the folder holds `retrieval/<set>/corpus.jsonl` ({_id, title, text}) and `answers/<set>.jsonl`
 * ({question, answers, document}). Every tenth of the documents asked about is left out:
 * its questions are to be refused.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInlay, nodeListener } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'

process.env['LANCEDB_LOG'] ??= 'error'
const corpora = process.env['INLAY_BENCH_CORPORA']
if (!corpora) {
  console.error('Name the folder of the corpora by INLAY_BENCH_CORPORA.')
  process.exit(2)
}

interface CorpusDocument {
  readonly _id: string
  readonly title: string
  readonly text: string
}

interface KnownQuestion {
  readonly question: string
  readonly document: string
}

const apiKey = 'key-of-the-bench'
const linesOf = <Line>(file: string): Line[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
const named = process.argv.slice(2)
const known = readdirSync(join(corpora, 'answers')).map((file) => basename(file, '.jsonl'))
const sets = (named.length > 0 ? named : known).filter((set) => existsSync(corpusOf(set)))

for (const set of sets) await measure(set)

function corpusOf(set: string): string {
  return join(corpora!, 'retrieval', set, 'corpus.jsonl')
}

async function measure(set: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-'))
  const inlay = createInlay({ dataFolder: join(folder, 'data'), apiKey })
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  const documents = linesOf<CorpusDocument>(corpusOf(set))
  const all = linesOf<KnownQuestion>(join(corpora!, 'answers', `${set}.jsonl`))
  const sources = [...new Set(all.map(({ document }) => document))]
  const absent = new Set(sources.filter((_, at) => at % 10 === 9))
  const questions = all.map((item) => (absent.has(item.document) ? { question: item.question, absent: true } : item))
  await ingest(
    address,
    documents.filter(({ _id }) => !absent.has(_id)),
  )
  await inlay.knowledge.settled()
  const file = join(folder, 'questions.jsonl')
  writeFileSync(file, questions.map((question) => JSON.stringify(question)).join('\n'))
  console.log(`\n${set}: ${documents.length - absent.size} documents`)
  await runCommandLine(['eval', file, address, '--key', apiKey], {
    env: () => ({}),
    stdout: process.stdout,
    stderr: { write: () => true },
    signal: new AbortController().signal,
  })
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
