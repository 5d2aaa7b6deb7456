import type { Citations, CompareCitations, ComparedDocuments, FindSupport } from '@inlay/agent'
import { createCoverage, createSupport } from '@inlay/text/comparison'
import { checkMark, findByClause, isBehindSentence } from './checked-marks.ts'
import { maxSentenceLength, refersBack, SentencePosition } from './sentence-position.ts'

const openingBracket = /[[【［]/
const leadingMarkers = /^(?:\s*[[【［]{1,2}[^\]】］]{1,40}[\]】］]{1,2})+/
/** Words are read whole, for speed: letters and digits end no sentence. */
const wordOrSign = /[A-Za-z\d]{3,}|[^]/gu

/**
 * Compares the text of a model with documents. A wrong mark moves to the document that holds its sentence, or goes.
 * Each finished sentence, item or line without a mark is compared with the texts that the model read; where one supports
 * it, its number is written behind the sentence as if the model had written it. Code, headings, table rows and questions
 * get no number.
 *
 * Once the model cites by itself, nothing is added any more, unless `completesCitations` is set. The output does not
 * depend on how the text was split.
 */
export const compareCitations: CompareCitations = (documents) => {
  const { texts } = documents
  // Both read all texts, so they wait for the first sentence or mark.
  const supportOf = readOnce(texts, () => createSupport(texts, { question: documents.question }))
  const coverageOf = readOnce(texts, () => createCoverage(texts, documents.question))
  const findInTexts: FindSupport = (sentence, preferred) => {
    const number = texts.length === 0 ? 0 : (supportOf()(sentence, preferred)?.source ?? 0)
    return number > 0 ? number : undefined
  }
  const { find = findInTexts } = documents
  return {
    find,
    isEmpty: () => documents.isEmpty === true,
    awaitsRest: isBehindSentence,
    checkMark: (mark) => {
      const checked = checkMark(mark, coverageOf()).filter((number) => number > 0)
      if (!documents.completesCitations || checked.length === 0) return checked
      return [...checked, ...findByClause(mark, [...mark.written, ...checked], find)]
    },
    complete: (citations) => new ComparedText(citations, documents, find),
  }
}

/** Reads texts when they are needed, and again once there are more of them. */
function readOnce<Index>(texts: readonly unknown[], read: () => Index): () => Index {
  let known: { readonly count: number; readonly index: Index } | undefined
  return () => {
    if (known?.count !== texts.length) known = { count: texts.length, index: read() }
    return known.index
  }
}

class ComparedText implements Citations {
  readonly #citations: Citations
  readonly #documents: ComparedDocuments
  readonly #findSupport: FindSupport
  readonly #position = new SentencePosition()
  /** Reading a text word by word is costly. Documents become citable between steps, so a step without any needs none of it. */
  #isReading = false
  /** The model cites by itself, so nothing more is compared. */
  #isOver = false
  /** The last sentence of the paragraph that names its subject. */
  #subject: string | undefined
  /** A number found for a finished sentence. It waits, with the space behind it, in case the model cites itself. */
  #pending: { readonly number: number; space: string } | undefined

  constructor(citations: Citations, documents: ComparedDocuments, find: FindSupport) {
    this.#citations = citations
    this.#documents = documents
    this.#findSupport = find
  }

  push(text: string): ReturnType<Citations['push']> {
    this.#isReading ||= this.#documents.isEmpty !== true
    return this.#citations.push(this.#isReading ? this.#read(text) : text)
  }

  end(isCut = false): ReturnType<Citations['end']> {
    this.#isReading = false
    const rest = this.#endStep(isCut)
    return rest === '' ? this.#citations.end() : [...this.#citations.push(rest), ...this.#citations.end()]
  }

  cited(): ReturnType<Citations['cited']> {
    return this.#citations.cited()
  }

  #read(text: string): string {
    if (this.#isOver) return text
    let out = ''
    for (const [piece] of text.matchAll(wordOrSign)) {
      if (this.#isOver) out += piece
      else if (piece.length < 3) out += this.#readText(piece)
      else out += this.#readText(piece[0]!) + this.#write(piece.slice(1))
    }
    return out
  }

  /** Ends a step; returns the text still to be written. */
  #endStep(isCut: boolean): string {
    if (this.#isOver) return ''
    // Half a sentence says something else than the whole.
    if (!this.#pending && (!isCut || this.#position.isOver)) this.#finishSentence('')
    const rest = this.#releasePending('')
    this.#subject = undefined
    this.#position.endText()
    return rest
  }

  /** Takes one character of text, which may end its sentence or its line. */
  #readText(char: string): string {
    const isSpace = /\s/.test(char)
    if (this.#pending) {
      if (!isSpace) return this.#releasePending(char) + this.#readText(char)
      this.#pending.space += char
      return ''
    }
    if (char === '\n') {
      const isPending = this.#finishSentence(char)
      this.#subject = undefined
      this.#position.endLine()
      return isPending ? '' : char
    }
    if (!this.#position.endsBefore(char)) return this.#write(char)
    const isPending = this.#finishSentence(isSpace ? char : '')
    this.#position.endSentence()
    if (!isPending) return this.#write(char)
    this.#position.addBetween(char)
    return isSpace ? '' : this.#releasePending(char) + this.#write(char)
  }

  #write(text: string): string {
    this.#position.add(text)
    return text
  }

  /** Compares the sentence that ends here. @returns whether its number is pending now */
  #finishSentence(space: string): boolean {
    const position = this.#position
    const end = position.sentence.slice(-10 * maxSentenceLength)
    // A marker at the start of a sentence belongs to the sentence before it.
    const sentence = end.replace(this.#documents.completesCitations ? leadingMarkers : '', '').trim()
    if (sentence === '' || position.isFenceLine) return false
    if (!refersBack.test(sentence)) this.#subject = sentence
    if (this.#documents.hasMarker(sentence)) {
      this.#isOver = !this.#documents.completesCitations
      return false
    }
    if (sentence.length > maxSentenceLength || position.isNoStatement || position.isCode) return false
    const number = this.#find(sentence)
    if (number !== undefined) this.#pending = { number, space }
    return number !== undefined
  }

  /** A sentence that refers back could be true of anything: a text that supports the one before must support both. */
  #find(sentence: string, preferred?: readonly number[]): number | undefined {
    const find = this.#findSupport
    const subject = refersBack.test(sentence) ? this.#subject : undefined
    const ofSubject = subject === undefined ? undefined : find(subject, preferred)
    if (subject === undefined || ofSubject === undefined) return find(sentence, preferred)
    const number = find(sentence, [ofSubject])
    return number === undefined || number === ofSubject || find(subject, [number]) === number ? number : undefined
  }

  /** Writes the pending number, unless the model continues with a marker of its own. */
  #releasePending(next: string): string {
    const pending = this.#pending
    if (!pending) return ''
    this.#pending = undefined
    return openingBracket.test(next) ? pending.space : ` [${pending.number}]${pending.space}`
  }
}
