import type { SearchDoc } from '@inlay/protocol'
import { CitationFilter } from '../citations/citation-filter.ts'
import type { Citation } from '../contracts/citations.ts'

/** A report with the citation numbers of its agent. */
export interface NumberedReport {
  readonly text: string
  /** Cited documents under those numbers, in order of appearance. */
  readonly cited: readonly Citation[]
  readonly known: (number: number) => SearchDoc | undefined
  /** The number of the document that supports a sentence. Absent: sentences are not compared. */
  readonly find: ((sentence: string) => number | undefined) | undefined
}

/** The documents cited by all reports of a run, numbered from 1; each document has one number. */
export interface References {
  /** Adds a report: returns its text with the numbers of the whole run, without markers of unknown documents. */
  adopt(report: NumberedReport): string
  known(number: number): SearchDoc | undefined
  /** The number of the document that supports a sentence; undefined when no document clearly does. */
  find(sentence: string): number | undefined
  /** In the order of their numbers. */
  documents(): readonly SearchDoc[]
}

const markLink = 'inlay:reference'
const placedMarker = /\[\[(\d+)\]\]\(inlay:reference\)/g

export function createReferences(): References {
  const documents: SearchDoc[] = []
  const numbers = new Map<string, number>()
  const reports: NumberedReport[] = []
  const numberOf = (document: SearchDoc): number => {
    const known = numbers.get(document.document_id)
    if (known !== undefined) return known
    documents.push(document)
    numbers.set(document.document_id, documents.length)
    return documents.length
  }
  return {
    adopt: (report) => {
      const { text, cited, known } = report
      reports.push(report)
      for (const { number } of cited) {
        const document = known(number)
        if (document) numberOf(document)
      }
      const citations = new CitationFilter({
        mode: 'link',
        known: (number) => {
          const document = known(number)
          return document && { document_id: `${number}`, link: markLink }
        },
      })
      const pieces = [...citations.push(text), ...citations.end()]
      const linked = pieces.map((piece) => (piece.type === 'text' ? piece.content : '')).join('')
      return linked.replace(placedMarker, (_marker, number: string) => {
        const document = known(Number(number))
        return document ? `[${numberOf(document)}]` : ''
      })
    },
    known: (number) => documents[number - 1],
    find: (sentence) => {
      const sources = reports.flatMap(({ find, known }) => known(find?.(sentence) ?? 0) ?? [])
      return sources.map(({ document_id: id }) => numbers.get(id)).find((number) => number !== undefined)
    },
    documents: () => documents,
  }
}
