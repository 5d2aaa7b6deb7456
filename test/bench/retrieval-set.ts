import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { zipfText } from './zipf-text.ts'

/** A collection with questions and the documents that answer them, in BEIR's layout. */
export interface RetrievalSet {
  readonly name: string
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[]
  /** Only questions that some document answers. */
  readonly queries: readonly { readonly id: string; readonly text: string }[]
  /** Grade of each answering document, by question; above 0. */
  readonly grades: ReadonlyMap<string, ReadonlyMap<string, number>>
}

/** Reads `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` (or `qrels/test.tsv`) of a folder. */
export function readSet(folder: string): RetrievalSet {
  const grades = readGrades(folder)
  const documents = readLines(join(folder, 'corpus.jsonl')).map((line) => ({ title: '', text: '', ...parse(line) }))
  const queries = readLines(join(folder, 'queries.jsonl')).map(parse)
  return {
    name: basename(resolve(folder)),
    documents: documents.map(({ id, title, text }) => ({ id, title, text })),
    queries: queries.filter(({ id }) => grades.has(id)).map(({ id, text = '' }) => ({ id, text })),
    grades,
  }
}

function parse(line: string): { id: string; title?: string; text?: string } {
  const { _id, title, text } = JSON.parse(line) as { _id: string; title?: string; text?: string }
  return { id: String(_id), ...(title === undefined ? {} : { title }), ...(text === undefined ? {} : { text }) }
}

function readGrades(folder: string): Map<string, Map<string, number>> {
  const file = ['qrels.tsv', 'qrels/test.tsv'].map((name) => join(folder, name)).find(existsSync)
  if (!file) throw new Error(`No qrels.tsv and no qrels/test.tsv in ${folder}.`)
  const grades = new Map<string, Map<string, number>>()
  for (const line of readLines(file)) {
    const [query, document, grade] = line.split('\t')
    // The header's grade is a word.
    if (query === undefined || document === undefined || !(Number(grade) > 0)) continue
    if (!grades.has(query)) grades.set(query, new Map())
    grades.get(query)!.set(document, Number(grade))
  }
  return grades
}

function readLines(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
}

/** A set that is made up: each question takes some words of one document, in another order. */
export function madeSet(): RetrievalSet {
  const source = zipfText(6, 20_000)
  const documents = Array.from({ length: 200 }, (_, at) => ({
    id: `made-${at}`,
    title: source.text(3),
    text: source.text(80),
  }))
  const answering = documents.filter((_, at) => at % 5 === 0)
  const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word.length > 5)
  return {
    name: 'made up',
    documents,
    queries: answering.map(({ id, text }) => ({
      id: `q-${id}`,
      text: wordsOf(text).slice(0, 6).toReversed().join(' '),
    })),
    grades: new Map(answering.map(({ id }) => [`q-${id}`, new Map([[id, 1]])])),
  }
}
