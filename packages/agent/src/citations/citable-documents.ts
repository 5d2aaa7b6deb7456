import type { SearchDoc } from '@inlay/protocol'
import type { SourceText } from '@inlay/text/comparison'
import type { ActionTurn } from '../contracts/action.ts'
import type { ComparedDocuments } from '../contracts/citations.ts'
import type { CitableDocument } from './citation-filter.ts'
import { hasMarker } from './marker.ts'

/** The documents that an answer may cite, by number. A number always stays with its document. */
export interface CitableDocuments extends ComparedDocuments {
  /** Adds texts that the model reads besides the documents: sentences from these get no number. */
  addUnnumbered(texts: readonly string[]): void
  known(number: number): SearchDoc | undefined
  /** Reserves numbers for the calls of a step: the citable call `index` starts 100 above the one before it. */
  openStep(): (index: number) => CitationRange
  /** Counts the addresses of documents as they are cited, for front ends that list sources in this order. */
  shownNumber(document: CitableDocument): number
  /** The documents so far, for an answer that goes on from here: several may. */
  copy(): CitableDocuments
}

export interface CitationRange {
  /** A document with a known id keeps its number. May be called several times; numbering continues. */
  readonly cite: ActionTurn['cite']
}

// Parallel calls number their documents before it is known how many the others find.
const rangeWidth = 100
/** Texts without a number are compared in pieces as long as passages: a whole file holds most words of any sentence. */
const pieceLength = 1_200
const pieces = new RegExp(`[^]{1,${pieceLength}}(?=\\s|$)|[^]{1,${pieceLength}}`, 'gu')

export function createCitableDocuments(
  earlier: ReadonlyMap<number, SearchDoc> = new Map(),
  earlierTexts: readonly SourceText<number>[] = [],
  earlierShown: ReadonlyMap<string, number> = new Map(),
): CitableDocuments {
  const byNumber = new Map(earlier)
  const numbers = new Map([...byNumber].map(([number, { document_id: id }]) => [id, number]))
  const texts = [...earlierTexts]
  const shown = new Map(earlierShown)
  let highest = Math.max(0, ...byNumber.keys())
  /** Pieces of texts without a number have negative ones. */
  let nextPiece = -1 - texts.length

  const citable: CitableDocuments = {
    get isEmpty() {
      return byNumber.size === 0
    },
    known: byNumber.get.bind(byNumber),
    hasMarker: (text) => hasMarker(text, citable.known),
    texts,
    shownNumber: ({ link, document_id: id }) => {
      const number = shown.get(link || id) ?? shown.size + 1
      shown.set(link || id, number)
      return number
    },
    copy: () => createCitableDocuments(byNumber, texts, shown),
    addUnnumbered: (more) => {
      for (const [text] of more.flatMap((each) => [...each.matchAll(pieces)])) texts.push({ source: nextPiece--, text })
    },
    openStep: () => {
      const base = highest + 1
      return (index) => {
        let next = base + index * rangeWidth
        return {
          cite: (documents, read = []) =>
            documents.map((document, at) => {
              const known = numbers.get(document.document_id)
              while (known === undefined && byNumber.has(next)) next++
              const number = known ?? next
              byNumber.set(number, byNumber.get(number) ?? document)
              numbers.set(document.document_id, number)
              highest = Math.max(highest, number)
              texts.push({
                source: number,
                text: read[at] ?? document.blurb,
                about: document.semantic_identifier,
              })
              return number
            }),
        }
      }
    },
  }
  return citable
}
