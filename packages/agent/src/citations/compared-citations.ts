import { endsSentence } from '@inlay/text'
import type { CitationPiece, Citations } from './citation-filter.ts'
import { readMarker } from './marker.ts'
import type { CitableDocuments } from './citable-documents.ts'

/** What {@link compareCitations} asks about the documents of the answer. */
export interface ComparisonOptions extends Pick<CitableDocuments, 'find' | 'completesCitations'> {
  readonly known: (number: number) => unknown
}

const openingBracket = /[[【［]/
const leadingMarkers = /^(?:\s*[[【［]{1,2}[^\]】］]{1,40}[\]】］]{1,2})+/
const fence = /^\s*(?:`{3,}|~{3,})/
const unspacedEnd = /[。！？][”』」）》]*$/
/** Headings, rows of tables, and what leads to something else. */
const notStated = /^\s{0,3}(?:#{1,6}\s|\||(?:\*\*|__)[^*_]+(?:\*\*|__)$)| \| |[:：?？]["”’)\]*_]*$/
const longestSentence = 1_000
/** As much as tells whether a sentence ends. */
const endingLength = 40

/**
 * Cites for a model that does not: behind each finished sentence, item or line that stands in a text, the number of that
 * text is put as if the model had written it. It ends for the answer when the model cites by itself, unless it completes
 * the citations: then a marker of the model that names another text gives way as well. Code, headings, rows of tables and
 * questions get no number. What comes out does not depend on how the text was split.
 */
export function compareCitations(citations: Citations, options: ComparisonOptions): Citations {
  const comparison = new Comparison(options)
  return {
    push: (text) => citations.push(comparison.push(text)),
    end: (): readonly CitationPiece[] => {
      const rest = comparison.end()
      return rest === '' ? citations.end() : [...citations.push(rest), ...citations.end()]
    },
    cited: () => citations.cited(),
  }
}

class Comparison {
  readonly #options: ComparisonOptions
  /** The model cites by itself. */
  #isOver = false
  #inFence = false
  /** The line up to the sentence, and the sentence so far. */
  #line = ''
  #sentence = ''
  /** How the sentence ends so far: to cut that out of a long sentence costs time with its whole length. */
  #ending = ''
  /** A number that waits, with the white space behind its sentence, for the sign that the model wrote none itself. */
  #waiting: { readonly number: number; space: string } | undefined
  /** A marker of the model that is not complete yet, behind a sentence that stands in the text of a number. */
  #marker: { readonly number: number; text: string } | undefined
  /** Whether the last marker gave way: so do those right behind it. */
  #hasCorrected = false

  constructor(options: ComparisonOptions) {
    this.#options = options
  }

  push(text: string): string {
    if (this.#isOver) return text
    let out = ''
    for (const char of text) out += this.#isOver ? char : this.#judge(char)
    return out
  }

  /** Ends a step; gives what is still to be written. */
  end(): string {
    if (this.#isOver) return ''
    const held = this.#endMarker(true)
    if (!this.#waiting) this.#finish('')
    const rest = held + this.#release('')
    this.#line = this.#sentence = this.#ending = ''
    this.#inFence = false
    return rest
  }

  /** Holds a marker back until it is complete, where a number is known that it has to name. */
  #judge(char: string): string {
    if (this.#marker) {
      this.#marker.text += char
      return this.#endMarker(false)
    }
    if (openingBracket.test(char) && this.#options.completesCitations && !this.#isInCode()) {
      const number = this.#waiting?.number ?? this.#options.find(this.#sentence.replace(leadingMarkers, ''))
      if (number !== undefined) {
        this.#marker = { number, text: char }
        return ''
      }
    }
    this.#hasCorrected &&= /\s/.test(char)
    return this.#take(char)
  }

  #endMarker(isEnded: boolean): string {
    if (!this.#marker) return ''
    const { number, text } = this.#marker
    const marker = readMarker(text, 0, isEnded)
    if (marker === 'more') return ''
    this.#marker = undefined
    const takeAll = (part: string): string => Array.from(part, (char) => this.#take(char)).join('')
    if (marker === 'no') return takeAll(text[0] ?? '') + this.push(text.slice(1))
    const { known } = this.#options
    const isCitation = !marker.isLinkText && marker.numbers.some((cited) => known(cited) !== undefined)
    const isWrong = isCitation && !marker.numbers.includes(number)
    const own = isWrong ? `[${number}]` : text.slice(0, marker.end)
    const shown = this.#hasCorrected && isCitation ? '' : own
    this.#hasCorrected ||= isWrong
    return takeAll(shown) + this.push(text.slice(marker.end))
  }

  #take(char: string): string {
    const isSpace = /\s/.test(char)
    if (this.#waiting) {
      if (isSpace) {
        this.#waiting.space += char
        return ''
      }
      return this.#release(char) + this.#take(char)
    }
    if (char === '\n') {
      const isFinished = this.#finish(char)
      if (fence.test(this.#line)) this.#inFence = !this.#inFence
      this.#line = this.#sentence = this.#ending = ''
      return isFinished ? '' : char
    }
    const endsHere = isSpace
      ? endsSentence(this.#ending) && !this.#ending.endsWith('`')
      : unspacedEnd.test(this.#ending.slice(-5)) && !/[。！？”』」）》]/.test(char)
    if (endsHere && !this.#isInCode()) {
      const isFinished = this.#finish(isSpace ? char : '')
      this.#sentence = this.#ending = ''
      if (isFinished) {
        this.#line += char
        return isSpace ? '' : this.#release(char) + this.#add(char)
      }
    }
    return this.#add(char)
  }

  #add(char: string): string {
    this.#line += char
    this.#sentence += char
    this.#ending = (this.#ending + char).slice(-endingLength)
    return char
  }

  #isInCode(): boolean {
    return this.#inFence || (this.#sentence.split('`').length - 1) % 2 === 1
  }

  /** Whether a number waits now for the sentence that ends here. */
  #finish(space: string): boolean {
    const { completesCitations } = this.#options
    // What a sentence begins with, the one before it is cited by.
    const sentence = this.#sentence.replace(completesCitations ? leadingMarkers : '', '').trim()
    if (sentence === '' || this.#inFence || fence.test(this.#line)) return false
    if (this.#isCitedByModel(sentence)) {
      this.#isOver = !completesCitations
      return false
    }
    if (sentence.length > longestSentence || notStated.test(this.#line) || this.#isInCode()) return false
    const number = this.#options.find(sentence)
    if (number !== undefined) this.#waiting = { number, space }
    return number !== undefined
  }

  #isCitedByModel(text: string): boolean {
    const sentence = text.replace(/`[^`]*`/g, '')
    for (let at = sentence.search(openingBracket); at !== -1 && at < sentence.length; at++) {
      if (!openingBracket.test(sentence[at] ?? '')) continue
      const marker = readMarker(sentence, at, true)
      if (
        typeof marker === 'object' &&
        !marker.isLinkText &&
        marker.numbers.some((number) => this.#options.known(number) !== undefined)
      )
        return true
    }
    return false
  }

  /** What waits, without its number when the model goes on with a marker of its own. */
  #release(next: string): string {
    const waiting = this.#waiting
    if (!waiting) return ''
    this.#waiting = undefined
    return openingBracket.test(next) ? waiting.space : ` [${waiting.number}]${waiting.space}`
  }
}
