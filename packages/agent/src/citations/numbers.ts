import type { SearchDoc } from '@inlay/protocol'

/** The documents of one answer that a model may cite, by number. A number never changes its document. */
export interface CitableDocuments {
  /** The document of a number; undefined when nothing has it. */
  known(number: number): SearchDoc | undefined
  /** Opens the numbers of a step's calls: call `index` of those that may cite starts 100 above the one before it. */
  openStep(): (index: number) => CitationRange
}

/** Gives numbers to the documents of one call. */
export interface CitationRange {
  /**
   * One number a document, in the order given; a document known by its id keeps the number it has.
   * May be called several times; later documents go on counting.
   */
  cite(documents: readonly SearchDoc[]): readonly number[]
}

// Parallel calls number their documents apart without knowing how many the others will find.
const rangeWidth = 100

/** Makes the register of an answer's citable documents. */
export function createCitableDocuments(): CitableDocuments {
  const byNumber = new Map<number, SearchDoc>()
  const numbers = new Map<string, number>()
  let highest = 0

  const add = (document: SearchDoc, from: number): number => {
    let number = from
    while (byNumber.has(number)) number++
    byNumber.set(number, document)
    numbers.set(document.document_id, number)
    highest = Math.max(highest, number)
    return number
  }
  return {
    known: (number) => byNumber.get(number),
    openStep: () => {
      const base = highest + 1
      return (index) => {
        let next = base + index * rangeWidth
        return {
          cite: (documents) =>
            documents.map((document) => {
              const known = numbers.get(document.document_id)
              if (known !== undefined) return known
              const number = add(document, next)
              next = number + 1
              return number
            }),
        }
      }
    },
  }
}
