import type { Block, SearchDoc } from '@inlay/protocol'
import { Markdown, type CitationHandling } from '../markdown/markdown.tsx'

type ResearchBlock = Extract<Block, { kind: 'research' }>

export interface AnswerSources extends CitationHandling {
  readonly numberOf: (documentId: string) => number | undefined
}

/** The report of a research agent. Its numbers are its own: each leads to the source of the answer, or to the page itself. */
export function Report({ step, sources }: { step: ResearchBlock; sources: AnswerSources }) {
  const documents = documentsByNumber(step)
  const answerNumber = (number: number): number | undefined => {
    const document = documents.get(number)
    return document && sources.numberOf(document.document_id)
  }
  const citations: CitationHandling = {
    label: (number) => {
      const known = answerNumber(number)
      return known === undefined ? undefined : sources.label(known)
    },
    open: (number, sentence) => {
      const known = answerNumber(number)
      if (known !== undefined) sources.open(known, sentence)
    },
  }
  const text = step.report.replaceAll(marker, (whole, digits: string) => {
    const document = documents.get(Number(digits))
    if (document !== undefined) return `[[${digits}]](${addressOf(document)})`
    // A report that was cut off has no documents for its numbers to lead to.
    return step.progress === 'running' ? whole : ''
  })
  return <Markdown text={text} citations={citations} />
}

const marker = /\[(\d{1,4})\](?![(\]])/g

/** Cited documents are in the order in which their numbers first appear; empty if the counts differ. */
export function documentsByNumber({
  report,
  citedDocuments,
}: Pick<ResearchBlock, 'report' | 'citedDocuments'>): ReadonlyMap<number, SearchDoc> {
  const numbers = [...new Set([...report.matchAll(marker)].map(([, digits]) => Number(digits)))]
  const documents = citedDocuments ?? []
  if (numbers.length !== documents.length) return new Map()
  return new Map(documents.map((document, at) => [numbers[at] ?? 0, document]))
}

const addressOf = ({ link }: SearchDoc): string => (link ?? '').replaceAll('(', '%28').replaceAll(')', '%29')
