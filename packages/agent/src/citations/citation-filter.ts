import { createCodeTracker } from '@inlay/text'
import type { Citation, CitationPiece, Citations, CitationComparison } from '../contracts/citations.ts'
import { readMarker, type Marker } from './marker.ts'

/** `link` renders markers as `[[n]](link)`, `keep` leaves them unchanged, `remove` deletes them. */
export type CitationMode = 'link' | 'keep' | 'remove'

/** Target of a citation number, for example a SearchDoc. */
export interface CitableDocument {
  readonly document_id: string
  readonly link?: string | null
}

export interface CitationsOptions {
  readonly mode: CitationMode
  /** The document with a number, if any. Called once a marker is complete. */
  readonly known: (number: number) => CitableDocument | undefined
  /** The number that readers see for a document. Default: that of the model. */
  readonly shownNumber?: ((document: CitableDocument) => number) | undefined
  /** Chooses the numbers to write for a mark in the mode `link`. Default: those of the model. */
  readonly check?: CitationComparison | undefined
}

/** Stands for a mark in a line; models do not write this character. */
const passedMarker = '\u0000'
const maxLookAhead = 2_000
// Longer runs of backticks are read in parts of this length, so that endless runs cost linear time.
const maxRunLength = 64
const interesting = /[[【［`~\n]/g
const citationPlace = /(?:[\p{L}\p{N}.!?…。！？\0][)"'”’»*_`]*[^\S\n]+|\0)$/u

/** A marker here can only be a citation: it follows a word, a sentence or another marker, or begins the text. */
const isCitationPlace = (context: string, next: string): boolean =>
  (context.trim() === '' && next !== ':') || citationPlace.test(context)

/** Escapes a link for the parentheses of a Markdown link. */
function toAddress(link: string): string {
  let depth = 0
  const isBalanced = [...link].every((char) => (depth += char === '(' ? 1 : char === ')' ? -1 : 0) >= 0) && depth === 0
  const unsafe = isBalanced ? /[\s\\<>]/g : /[\s\\<>()]/g
  return link.replace(unsafe, (char) => (char === '(' ? '%28' : char === ')' ? '%29' : encodeURIComponent(char)))
}

const maxContext = 64
const maxLine = 2_000
const removesSpaceBefore = /^(?:[\s.,;:!?)\]}]|$)/

/**
 * Finds the citations of one answer. Markers in code and in the text of Markdown links do not count. Several numbers in
 * one bracket become several links. An unknown number is dropped where only a citation makes sense (behind a marker, or
 * behind a space that follows a word or the end of a sentence) and kept elsewhere. Each document is reported once. The
 * output does not depend on how the text was split. A space is added between text and link where the model left none,
 * and a fence without a language becomes `plaintext`.
 * @example
 * const citations = new CitationFilter({ mode: 'link', known: (n) => (n === 1 ? { document_id: 'a', link: 'u' } : undefined) })
 * citations.push('Yes[1].') // text 'Yes', citation 1, text ' [[1]](u)', text '.'
 */
export class CitationFilter implements Citations {
  readonly #mode: CitationMode
  readonly #known: CitationsOptions['known']
  readonly #shownNumber: CitationsOptions['shownNumber']
  readonly #check: CitationComparison | undefined
  /** State of the current step. */
  #code = createCodeTracker()
  /** The first number that each document was cited by. */
  readonly #cited = new Map<string, number>()
  readonly #pieces: CitationPiece[] = []
  /** Text that may still become a marker. */
  #held = ''
  #isLineStart = true
  /** Text that is certain. In the mode `remove`, the space behind it waits, as it may go with a marker. */
  #spoken = ''
  #heldSpace = ''
  /** The last text of the model; each placed marker counts as one character. */
  #context = ''
  /** The current line in the same form, while marks are checked. */
  #line = ''
  /** Numbers written for the marks right before. */
  #written: number[] = []
  #saidAnything = false
  /** Text of the step while nothing was put out yet; undefined afterwards. */
  #unsaid: string | undefined = ''

  constructor({ mode, known, shownNumber, check }: CitationsOptions) {
    this.#mode = mode
    this.#known = known
    this.#shownNumber = shownNumber
    this.#check = mode === 'link' ? check : undefined
  }

  push(text: string): readonly CitationPiece[] {
    if (this.#unsaid !== undefined) this.#unsaid += text
    this.#held += text
    this.#read(false)
    this.#flush()
    const pieces = this.#pieces.splice(0)
    if (pieces.some((piece) => piece.type === 'text' && piece.content.trim() !== '')) this.#unsaid = undefined
    return pieces
  }

  end(): readonly CitationPiece[] {
    this.#read(true)
    this.#releaseSpace()
    const source = this.#unsaid ?? ''
    // A step that consists of markers alone still says something: the text as the model wrote it.
    if (!this.#saidAnything && this.#spoken.trim() === '' && source.trim() !== '') this.#spoken = source
    this.#flush()
    this.#heldSpace = this.#context = this.#line = this.#unsaid = ''
    this.#written = []
    this.#saidAnything = false
    this.#isLineStart = true
    this.#code = createCodeTracker()
    return this.#pieces.splice(0)
  }

  cited(): readonly Citation[] {
    return [...this.#cited].map(([documentId, number]) => ({ number, documentId }))
  }

  /** Reads the held text as far as it is certain. */
  #read(ended: boolean): void {
    const held = this.#held
    let at = 0
    while (at < held.length) {
      interesting.lastIndex = at
      const match = interesting.exec(held)
      const stop = match ? match.index : held.length
      if (stop > at) this.#pass(held.slice(at, stop))
      this.#isLineStart &&= /^[\s>]*$/.test(held.slice(at, stop))
      at = stop
      if (!match) break
      const [sign] = match
      const isRun = sign === '`' || sign === '~'
      const next = sign === '\n' ? at + 1 : isRun ? this.#takeRun(at, ended) : this.#takeBracket(at, ended)
      if (next === -1) break
      if (sign === '\n') {
        if (this.#code.passLineEnd(this.#context)) this.#pass('plaintext', '')
        this.#pass('\n')
      }
      this.#isLineStart = sign === '\n'
      at = next
    }
    this.#held = held.slice(at)
  }

  /** Handles the bracket at `at`; returns the index to continue from, or -1 to hold the text from here. */
  #takeBracket(at: number, ended: boolean): number {
    const held = this.#held
    const marker = this.#code.fence ? 'no' : readMarker(held, at, ended)
    if (marker === 'more') return -1
    let end = at + 1
    if (marker !== 'no') {
      const isProtected = marker.isLinkText || this.#code.covers(held.slice(at, at + maxLookAhead), ended)
      if (isProtected === undefined) return -1
      end = marker.end
      if (!isProtected && this.#awaitsRest(held.slice(end), ended)) return -1
      if (!isProtected && this.#takeMarker(marker, held.slice(end))) return end
    }
    this.#pass(held.slice(at, end))
    return end
  }

  /** Whether only more text tells which sentence a marker belongs to. */
  #awaitsRest(rest: string, ended: boolean): boolean {
    return !ended && this.#isChecking && /^[^\S\n]*$/.test(rest) && this.#check?.awaitsRest(this.#line) === true
  }

  get #isChecking(): boolean {
    return this.#check?.isEmpty() === false
  }

  /** Reports the citations of a complete marker and replaces it by links; false when it is ordinary text. */
  #takeMarker({ numbers }: Marker, rest: string): boolean {
    const mode = this.#mode
    const next = rest[0] ?? ''
    const known = numbers.filter((number) => this.#known(number) !== undefined)
    if (known.length === 0 && (mode === 'keep' || !isCitationPlace(this.#context, next))) return false
    const documents = this.#checked(known, rest).flatMap((number) => {
      const document = this.#known(number)
      return document ? [{ number: this.#shownNumber?.(document) ?? number, document }] : []
    })
    const isDropped = mode === 'remove' || documents.length === 0
    if (isDropped && removesSpaceBefore.test(next)) this.#heldSpace = ''
    else if (!isDropped) this.#releaseSpace()
    for (const { number, document } of documents) {
      if (this.#cited.has(document.document_id)) continue
      this.#cited.set(document.document_id, number)
      if (mode !== 'link') continue
      this.#flush()
      this.#pieces.push({ type: 'citation', number, documentId: document.document_id })
    }
    if (mode === 'keep') return false
    if (mode === 'link' && documents.length > 0) {
      // Links are separate pieces.
      this.#flush()
      const links = documents.map(({ number, document }) => `[[${number}]](${toAddress(document.link ?? '')})`)
      this.#spoken = (/[^\s\0]$/.test(this.#context) ? ' ' : '') + links.join(' ')
      this.#flush()
    }
    this.#context = (this.#context + passedMarker).slice(-maxContext)
    this.#line += passedMarker
    return true
  }

  #checked(numbers: readonly number[], rest: string): readonly number[] {
    if (!this.#check || !this.#isChecking || numbers.length === 0) return numbers
    const placed = { line: this.#line, numbers, rest, written: this.#written }
    const checked = this.#check.checkMark(placed).filter((number) => !this.#written.includes(number))
    this.#written.push(...checked)
    return checked
  }

  /** Handles a run of backticks or tildes; returns the index to continue from, or -1 to hold the text from here. */
  #takeRun(at: number, ended: boolean): number {
    const held = this.#held
    const char = held[at] ?? ''
    let end = at + 1
    while (held[end] === char && end - at < maxRunLength) end++
    if (end === held.length && end - at < maxRunLength && !ended) return -1
    this.#code.passRun({ char, length: end - at, startsLine: this.#isLineStart, next: held[end] })
    this.#pass(held.slice(at, end))
    return end
  }

  /** Passes text on. @param context the part of it that the model wrote. Default: all of it */
  #pass(text: string, context: string = text): void {
    this.#context = (this.#context + context).slice(-maxContext)
    if (this.#isChecking) this.#follow(context)
    if (this.#mode !== 'remove' && !this.#isChecking) {
      this.#releaseSpace()
      this.#spoken += text
      return
    }
    // Dropping a marker also drops the space before it, so trailing space is held back.
    const visible = text.replace(/(?<![^\S\n])[^\S\n]+$/, '')
    if (visible !== '') {
      this.#releaseSpace()
      this.#spoken += visible
    }
    this.#heldSpace += text.slice(visible.length)
  }

  /** Keeps the line up to date for the check of its next marker. */
  #follow(text: string): void {
    this.#line = text === '\n' ? '' : this.#line + text
    if (this.#line.length > 2 * maxLine) this.#line = this.#line.slice(-maxLine)
    if (text === '\n' || /\S/.test(text)) this.#written = []
  }

  #releaseSpace(): void {
    this.#spoken += this.#heldSpace
    this.#heldSpace = ''
  }

  #flush(): void {
    if (this.#spoken === '') return
    this.#pieces.push({ type: 'text', content: this.#spoken })
    this.#saidAnything ||= this.#spoken.trim() !== ''
    this.#spoken = ''
  }
}
