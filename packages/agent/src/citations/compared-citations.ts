import { endsSentence } from '@inlay/text'
import type { CitationPiece, Citations } from './citation-filter.ts'
import { addressLimit, createCodeTracker, hasMarker, readMarker } from './marker.ts'
import type { CitableDocuments } from './citable-documents.ts'

/** Functions that {@link compareCitations} needs for the documents of the answer. */
export interface ComparisonOptions extends Pick<CitableDocuments, 'find' | 'completesCitations'> {
  readonly known: (number: number) => unknown
}

const openingBracket = /[[【［]/
const leadingMarkers = /^(?:\s*[[【［]{1,2}[^\]】］]{1,40}[\]】］]{1,2})+/
/** A line, perhaps an item, whose marker stands before what it cites. */
const ledByMarker = /^[\s>]*(?:(?:[-*+]|\d{1,3}[.)])\s+)?[[【［]/
/** Matches text after a marker that ends its sentence. */
const sentenceEnd = /^(?:[[【［.!?…。！？\n]|$)/
/** Matches text after a marker that starts a sentence, or that is followed by another one. */
const goesOn = /^\s*[\p{Ll}[【［]/u
/** A sentence about something that the one before it names. */
const leansBack =
  /^["“„«(]?(?:it|its|they|their|them|he|his|she|her|this|these|that|those|es|er|sie|diese[rsmn]?|il|elle|ils|elles|él|ella|ellos|ellas|esto|estos|estas)(?![\p{L}\p{N}_-])/iu
/** A sign that an address may end by; any other only makes it longer. */
const addressEnd = /[\s)]/
const fence = /^\s*(?:`{3,}|~{3,})/
const unspacedEnd = /[。！？][”』」）》]*$/
/** Headings and rows of tables, by the beginning of their line, and what leads to something else, by its end. */
const notStated = /^\s{0,3}(?:#{1,6}\s|\||(?:\*\*|__)[^*_]+(?:\*\*|__)$)/
const leadsOn = /[:：?？]["”’)\]*_]*$/
const longestSentence = 1_000
/** Words are taken whole: letters and digits end no sentence. */
const wordOrSign = /[A-Za-z\d]{3,}|[^]/gu
const clauseEnd = /[,;:]\s+(?=[\p{Ll}`])/u
const conjunction = /^(?:and|but|or|so|und|aber|oder|et|ou|mais|y|o|pero)\s+/u
/** How a clause begins that surely names what it is about; any other may go on about the subject before it. */
const namesSubject =
  /^(?:`|\p{Lu}|\d|(?:the|an?|each|every|all|both|some|many|most|no|you|we|der|die|das|eine?|jede[rs]?|alle|le|la|les|une?|el|los|las|una)(?![\p{L}\p{N}_-]))/u
/** A clause of fewer words may stand anywhere. */
const leastClauseWords = 8
/** As much as tells whether a sentence ends. */
const endingLength = 40

/**
 * Cites for a model that does not: behind each finished sentence, item or line that stands in a text, the number of that
 * text is put as if the model had written it. It ends for the answer when the model cites by itself, unless it completes
 * the citations: then the only marker of a sentence, at its end, gives way as well where its own text does not say so and
 * another does, and is joined by that of a text which says one clause of it. Code, headings, rows of tables and questions
 * get no number. What comes out does not depend on how the text was split.
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
  #code = createCodeTracker()
  /** The line and the sentence so far. To look into them joins all their pieces: that may not be done for each sentence. */
  #line = ''
  #sentence = ''
  /** How the line begins and ends, how the sentence ends so far, and what else is asked about them. */
  #beginning = ''
  #lastTwo = ''
  #ending = ''
  #isRow = false
  #isCodeOpen = false
  /** The last sentence of the paragraph that names what it is about. */
  #naming: string | undefined
  /** A number that waits, with the white space behind its sentence, for the sign that the model wrote none itself. */
  #waiting: { readonly number: number; readonly sentence: string; space: string } | undefined
  /** The sentence that ended last on this line, where no text says it as a whole. */
  #unfound: string | undefined
  /** A marker of the model that is not complete yet, and whether only the end of its address is awaited. */
  #marker: string | undefined
  #isInAddress = false
  /** Whether the marker right before gave way: so do those behind it. */
  #hasCorrected = false
  /** Numbers put behind the marker right before. */
  #joined: readonly number[] = []

  constructor(options: ComparisonOptions) {
    this.#options = options
  }

  push(text: string): string {
    if (this.#isOver) return text
    let out = ''
    for (const [piece] of text.matchAll(wordOrSign)) {
      if (this.#isOver) out += piece
      else if (piece.length < 3) out += this.#judge(piece)
      else if (this.#marker === undefined) out += this.#judge(piece[0]!) + this.#add(piece.slice(1))
      else for (const char of piece) out += this.#isOver ? char : this.#judge(char)
    }
    return out
  }

  /** Ends a step; gives what is still to be written. */
  end(): string {
    if (this.#isOver) return ''
    const held = this.#endMarker(true)
    if (!this.#waiting) this.#finish('')
    const rest = held + this.#release('')
    this.#endLine()
    this.#code = createCodeTracker()
    return rest
  }

  /** Holds a marker back until it is complete. */
  #judge(char: string): string {
    if (this.#marker !== undefined) {
      this.#marker += char
      if (this.#isInAddress && this.#marker.length < addressLimit && !addressEnd.test(char)) return ''
      return this.#endMarker(false)
    }
    const isHeld =
      openingBracket.test(char) &&
      this.#options.completesCitations &&
      this.#sentence.length <= longestSentence &&
      !this.#isInCode()
    if (isHeld) {
      this.#marker = char
      return ''
    }
    this.#forgetMarkers()
    return this.#take(char)
  }

  #forgetMarkers(): void {
    this.#hasCorrected = false
    this.#joined = []
  }

  #endMarker(isEnded: boolean): string {
    const text = this.#marker
    if (text === undefined) return ''
    const marker = readMarker(text, 0, isEnded)
    this.#isInAddress = marker === 'more' && text.includes('](')
    if (marker === 'more') return ''
    this.#marker = undefined
    const takeAll = (part: string): string => Array.from(part, (char) => this.#take(char)).join('')
    const isCitation =
      marker !== 'no' &&
      !marker.isLinkText &&
      marker.numbers.some((number) => this.#options.known(number) !== undefined)
    if (!isCitation) {
      this.#forgetMarkers()
      return takeAll(text[0] ?? '') + this.push(text.slice(1))
    }
    const rest = text.slice(marker.end)
    if (this.#hasCorrected || marker.numbers.every((number) => this.#joined.includes(number))) return this.push(rest)
    const sentence = this.#sentenceCitedBy(rest)
    const right = sentence === undefined ? undefined : this.#find(sentence, marker.numbers)
    this.#hasCorrected = right !== undefined && !marker.numbers.includes(right)
    if (this.#hasCorrected) return takeAll(`[${right}]`) + this.push(rest)
    const clauses = right === undefined ? (sentence?.split(clauseEnd) ?? []) : []
    const others = new Set(clauses.flatMap((clause, at) => this.#otherOf(clause, at, marker.numbers)))
    // Behind a full stop it may belong to the next sentence: its first sign tells.
    const isBehind = others.size > 0 && sentence === this.#unfound
    if (isBehind && !isEnded && /^[^\S\n]*$/.test(rest)) {
      this.#marker = text
      return ''
    }
    this.#joined = isBehind && goesOn.test(rest) ? [] : [...others]
    return takeAll(text.slice(0, marker.end) + this.#joined.map((number) => `[${number}]`).join('')) + this.push(rest)
  }

  /** The number of the text that says a clause which none of those cited says; [] for none, or without a subject. */
  #otherOf(clause: string, at: number, numbers: readonly number[]): readonly number[] {
    const bare = clause.trim().replace(conjunction, '')
    if (bare.split(/\s+/).length < leastClauseWords || leansBack.test(bare)) return []
    if (at > 0 && !namesSubject.test(bare)) return []
    const number = this.#find(clause, numbers)
    return number === undefined || numbers.includes(number) ? [] : [number]
  }

  /** The sentence whose only marker is complete now; undefined where it may cite something else. */
  #sentenceCitedBy(rest: string): string | undefined {
    if (ledByMarker.test(this.#beginning) || this.#isNotStated()) return undefined
    if (this.#waiting?.space.includes('\n')) return undefined
    const own = this.#sentence.replace(leadingMarkers, '')
    const before = this.#waiting?.sentence ?? (own.trim() === '' ? this.#unfound : undefined)
    const isEnd = sentenceEnd.test(rest) || unspacedEnd.test(this.#ending.slice(-5)) || endsSentence(this.#ending)
    if (before === undefined && !isEnd) return undefined
    const sentence = before ?? own
    return hasMarker(sentence, this.#options.known) ? undefined : sentence
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
      for (const { 0: run, index } of this.#line.matchAll(/`+|~+/g)) {
        const startsLine = /^[\s>]*$/.test(this.#line.slice(0, index))
        const next = this.#line[index + run.length]
        this.#code.passRun({ char: run[0] ?? '', length: run.length, startsLine, next })
      }
      this.#code.passLineEnd(this.#line)
      this.#endLine()
      return isFinished ? '' : char
    }
    const endsHere = isSpace
      ? endsSentence(this.#ending) && !this.#ending.endsWith('`')
      : unspacedEnd.test(this.#ending.slice(-5)) && !/[。！？”』」）》]/.test(char)
    if (endsHere && !this.#isInCode()) {
      const isFinished = this.#finish(isSpace ? char : '')
      this.#sentence = this.#ending = ''
      this.#isCodeOpen = false
      if (isFinished) {
        this.#addToLine(char)
        return isSpace ? '' : this.#release(char) + this.#add(char)
      }
    }
    return this.#add(char)
  }

  #add(text: string): string {
    this.#addToLine(text)
    this.#sentence += text
    if (this.#sentence.length > 20 * longestSentence) this.#sentence = this.#sentence.slice(-10 * longestSentence)
    this.#ending = (this.#ending + text).slice(-endingLength)
    if (text === '`') this.#isCodeOpen = !this.#isCodeOpen
    return text
  }

  #addToLine(text: string): void {
    this.#line += text
    if (this.#beginning.length < longestSentence) this.#beginning += text
    if (text === ' ' && this.#lastTwo === ' |') this.#isRow = true
    this.#lastTwo = (this.#lastTwo + text).slice(-2)
  }

  #endLine(): void {
    this.#line = this.#beginning = this.#lastTwo = this.#sentence = this.#ending = ''
    this.#isRow = this.#isCodeOpen = false
    this.#naming = this.#unfound = undefined
  }

  #isInCode(): boolean {
    return this.#code.fence !== undefined || this.#isCodeOpen
  }

  #isNotStated(): boolean {
    return notStated.test(this.#beginning) || this.#isRow || leadsOn.test(this.#ending)
  }

  /** Whether a number waits now for the sentence that ends here. */
  #finish(space: string): boolean {
    // A citation at the start of a sentence belongs to the sentence before it.
    const end = this.#sentence.slice(-10 * longestSentence)
    const sentence = end.replace(this.#options.completesCitations ? leadingMarkers : '', '').trim()
    if (sentence === '' || this.#code.fence || fence.test(this.#beginning)) return false
    if (!leansBack.test(sentence)) this.#naming = sentence
    this.#unfound = undefined
    if (hasMarker(sentence, this.#options.known)) {
      this.#isOver = !this.#options.completesCitations
      return false
    }
    if (sentence.length > longestSentence || this.#isNotStated() || this.#isInCode()) return false
    const number = this.#find(sentence)
    if (number === undefined) this.#unfound = sentence
    else this.#waiting = { number, sentence, space }
    return number !== undefined
  }

  /**
   * The number of the text that says a sentence. One that leans on the sentence before it may be true of anything: where a
   * text surely says that one, this one has to stand there too, or in another text that says both.
   */
  #find(sentence: string, preferred?: readonly number[]): number | undefined {
    const { find } = this.#options
    const naming = this.#naming
    const named = naming !== undefined && leansBack.test(sentence) ? find(naming, preferred) : undefined
    if (naming === undefined || named === undefined) return find(sentence, preferred)
    const number = find(sentence, [named])
    return number === undefined || number === named || find(naming, [number]) === number ? number : undefined
  }

  /** Releases the pending citation, without its number if the model continues with a marker of its own. */
  #release(next: string): string {
    const waiting = this.#waiting
    if (!waiting) return ''
    this.#waiting = undefined
    return openingBracket.test(next) ? waiting.space : ` [${waiting.number}]${waiting.space}`
  }
}
