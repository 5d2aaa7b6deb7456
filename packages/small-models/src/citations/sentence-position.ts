import { createCodeTracker, endsSentence } from '@inlay/text'

/** Longer sentences are data: they are neither compared nor corrected. */
export const maxSentenceLength = 1_000
/** A sentence whose subject is named in the sentence before it. */
export const refersBack: RegExp =
  /^["“„«(]?(?:it|its|they|their|them|he|his|she|her|this|these|that|those|es|er|sie|diese[rsmn]?|il|elle|ils|elles|él|ella|ellos|ellas|esto|estos|estas)(?![\p{L}\p{N}_-])/iu
/** Enough to tell whether a sentence ends. */
const endingLength = 40

const fence = /^\s*(?:`{3,}|~{3,})/
/** The end of a sentence in a script that puts no space behind it. */
const unspacedEnd = /[。！？][”』」）》]*$/
/** Headings, table rows and lines in bold, by the beginning of their line. */
const notStatedLine = /^\s{0,3}(?:#{1,6}\s|\||(?:\*\*|__)[^*_]+(?:\*\*|__)$)/
/** Questions, and what leads to something else. */
const leadingEnd = /[:：?？]["”’)\]*_]*$/

/**
 * Follows a text that streams by: the line and the sentence it is in, and whether that is code. The text of both is
 * built from many pieces, so reading it is costly; `lineStart` and `sentenceEnd` are kept separately to be cheap.
 */
export class SentencePosition {
  /** The sentence so far; of a very long one its end. */
  sentence = ''
  #line = ''
  #lineStart = ''
  #sentenceEnd = ''
  #lastTwo = ''
  #isTableRow = false
  #isInlineCode = false
  #code = createCodeTracker()

  add(text: string): void {
    this.addBetween(text)
    this.sentence += text
    if (this.sentence.length > 20 * maxSentenceLength) this.sentence = this.sentence.slice(-10 * maxSentenceLength)
    this.#sentenceEnd = (this.#sentenceEnd + text).slice(-endingLength)
    if (text === '`') this.#isInlineCode = !this.#isInlineCode
  }

  /** Adds text that belongs to the line and to no sentence. */
  addBetween(text: string): void {
    this.#line += text
    if (this.#lineStart.length < maxSentenceLength) this.#lineStart += text
    if (text === ' ' && this.#lastTwo === ' |') this.#isTableRow = true
    this.#lastTwo = (this.#lastTwo + text).slice(-2)
  }

  get isCode(): boolean {
    return this.isFenced || this.#isInlineCode
  }

  get isFenced(): boolean {
    return this.#code.fence !== undefined
  }

  /** Whether the line is, or opens, a block of code. */
  get isFenceLine(): boolean {
    return this.isFenced || fence.test(this.#lineStart)
  }

  /** Whether the sentence states nothing that could be cited: a heading, a table row, a question. */
  get isNoStatement(): boolean {
    return notStatedLine.test(this.#lineStart) || this.#isTableRow || leadingEnd.test(this.#sentenceEnd)
  }

  get isOver(): boolean {
    return this.#endsUnspaced() || endsSentence(this.#sentenceEnd)
  }

  endsBefore(char: string): boolean {
    if (this.isCode) return false
    if (/\s/.test(char)) return endsSentence(this.#sentenceEnd) && !this.#sentenceEnd.endsWith('`')
    return this.#endsUnspaced() && !/[。！？”』」）》]/.test(char)
  }

  endSentence(): void {
    this.sentence = this.#sentenceEnd = ''
    this.#isInlineCode = false
  }

  endLine(): void {
    for (const { 0: run, index } of this.#line.matchAll(/`+|~+/g)) {
      const startsLine = /^[\s>]*$/.test(this.#line.slice(0, index))
      const next = this.#line[index + run.length]
      this.#code.passRun({ char: run[0] ?? '', length: run.length, startsLine, next })
    }
    this.#code.passLineEnd(this.#line)
    this.#beginLine()
  }

  /** Ends the text: the next one begins outside of code. */
  endText(): void {
    this.#beginLine()
    this.#code = createCodeTracker()
  }

  #endsUnspaced(): boolean {
    return unspacedEnd.test(this.#sentenceEnd.slice(-5))
  }

  #beginLine(): void {
    this.endSentence()
    this.#line = this.#lineStart = this.#lastTwo = ''
    this.#isTableRow = false
  }
}
