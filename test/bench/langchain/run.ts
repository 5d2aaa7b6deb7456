/**
 * Compares Inlay with LangChain.js on LanceDB: the same documents, embedder, engine and machine, each in a process of
 * its own. LangChain keeps no versions, no records and no full text; what is compared is the way from documents to
 * answers.
 *
 *   npm run bench:langchain -- [--folder <Markdown>] [--documents 1000] [--queries 200]
 *   --quick measures Inlay alone on few documents: LangChain.js comes from the registry
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leaveOut, note } from '../figures.ts'
import { readDocuments } from '../ingestion/fixture.ts'
import { percentile } from '../timing.ts'
import { seededRandom } from '../typos.ts'

/** Input of a side. */
export interface Task {
  readonly documents: readonly { readonly id: string; readonly text: string }[]
  readonly queries: readonly string[]
}

/** Results of a side. */
export interface Report {
  readonly chunks: number
  /** Until everything was searchable, in milliseconds. */
  readonly indexedMs: number
  /** CPU time of all threads until then. */
  readonly cpuMs: number
  /** Time of each search, in milliseconds. */
  readonly times: readonly number[]
  /** Ids of the documents that each search found, best first. */
  readonly results: readonly (readonly string[])[]
}

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string' },
    documents: { type: 'string' },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const documents = readDocuments(options.folder, Number(options.documents ?? (options.quick ? 30 : 1000))).map(
  ({ document }) => ({
    id: document.id ?? '',
    text: document.sections.map((section) => ('text' in section ? section.text : '')).join('\n\n'),
  }),
)
const request = questions(Number(options.queries ?? (options.quick ? 20 : 200)))
const task: Task = { documents, queries: request.map(({ text }) => text) }

const ours = await measure('ours.ts')
const theirs = options.quick ? undefined : await measure('theirs.mjs')
console.log(`${documents.length} documents, ${task.queries.length} questions: each a sentence with words left out`)
const searched = (side: Report): number => percentile(sorted(side.times), 0.5)
print('Inlay', ours)
note('langchain, Inlay, search p50, ms', searched(ours))
note('langchain, Inlay, right document first', firstOf(ours))
if (theirs) {
  print('LangChain.js', theirs)
  console.log(
    `Inlay / LangChain.js: documents/s ${(theirs.indexedMs / ours.indexedMs).toFixed(2)}, ` +
      `search p50 ${(searched(ours) / searched(theirs)).toFixed(2)}, ` +
      `right document first ${(firstOf(ours) / Math.max(firstOf(theirs), 0.001)).toFixed(2)}`,
  )
} else leaveOut('LangChain.js, which npm run bench:langchain installs from the registry')

async function measure(program: string): Promise<Report> {
  const child = fork(join(import.meta.dirname, program), { execArgv: ['--conditions=@inlay/source'] })
  child.send(task)
  // Sent by the program that was just started.
  const [report] = (await once(child, 'message')) as [Report]
  return report
}

/** Sentences of documents in which every third word is left out. */
function questions(count: number): { id: string; text: string }[] {
  const random = seededRandom(5)
  const item = (): { id: string; text: string } | undefined => {
    const { id, text } = documents[Math.floor(random() * documents.length)]!
    const sentences = text.match(/[^.!?\n#|`]{40,200}[.!?]/g) ?? []
    const words = sentences[Math.floor(random() * sentences.length)]?.trim().split(/\s+/)
    return words && { id, text: words.filter((_, at) => at % 3 !== 2).join(' ') }
  }
  return Array.from({ length: count }, item).filter((results) => results !== undefined)
}

function print(name: string, report: Report): void {
  const seconds = report.indexedMs / 1000
  const times = sorted(report.times)
  console.log(
    `${name.padEnd(13)} ${Math.round(documents.length / seconds)} documents/s, ${Math.round(report.chunks / seconds)} ` +
      `chunks/s (${Math.round((report.cpuMs / report.chunks) * 1000)} µs CPU each); search p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)} ms; ` +
      `right document first ${(firstOf(report) * 100).toFixed(0)} %`,
  )
}

function firstOf({ results }: Report): number {
  return results.filter(([best], at) => best === request[at]!.id).length / request.length
}

function sorted(times: readonly number[]): number[] {
  return times.toSorted((left, right) => left - right)
}
