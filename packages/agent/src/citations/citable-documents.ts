import type { SearchDoc } from '@inlay/protocol'
import { createSupport, type SourceText } from '@inlay/text'

/** The documents of one answer that a model may cite, by number. A number never changes its document. */
export interface CitableDocuments {
  /** Whether sentences without a number are compared also when the model cites others. At first false. */
  completesCitations: boolean
  /** The question being answered; its words carry little weight in an answer. */
  question?: string
  /**
   * The number of the document that says what a sentence says, one of those preferred where it does; undefined when none
   * surely does.
   */
  find(sentence: string, preferred?: readonly number[]): number | undefined
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
   * @param texts what the model reads of each. Default: their blurbs
   */
  cite(documents: readonly SearchDoc[], texts?: readonly string[]): readonly number[]
}

// Parallel calls number their documents apart without knowing how many the others will find.
const rangeWidth = 100

/** Makes the register of an answer's citable documents. */
export function createCitableDocuments(): CitableDocuments {
  const byNumber = new Map<number, SearchDoc>()
  const numbers = new Map<string, number>()
  const texts: SourceText<number>[] = []
  /** Reads the texts once the first sentence asks. */
  let find: ReturnType<typeof createSupport<number>> | undefined
  let highest = 0

  const citable: CitableDocuments = {
    completesCitations: false,
    known: byNumber.get.bind(byNumber),
    find: (sentence, preferred) => {
      if (texts.length === 0) return undefined
      find ??= createSupport(texts, { question: citable.question })
      return find(sentence, preferred)?.source
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
              find = undefined
              return number
            }),
        }
      }
    },
  }
  return citable
}
