import { createCodeTracker, readMarker, type Marker } from './marker.ts'

/**
 * Handling of citation markers: `link` renders them as `[[n]](link)`, `keep` leaves them as the model wrote them,
 * `remove` deletes them.
 */
export type CitationMode = 'link' | 'keep' | 'remove'

/** Target of a citation number, for example a SearchDoc. */
export interface CitableDocument {
  readonly document_id: string
  readonly link?: string | null
}

/** A document cited under a number. */
export interface Citation {
  readonly number: number
  readonly documentId: string
}

/** A part of the answer, in the order in which clients are told. */
export type CitationPiece =
  | { readonly type: 'text'; readonly content: string }
  | ({ readonly type: 'citation' } & Citation)

/** Options of {@link CitationFilter}. */
export interface CitationsOptions {
  readonly mode: CitationMode
  /** The document of a number, undefined when nothing has it. Asked once a marker is complete. */
  readonly known: (number: number) => CitableDocument | undefined
}

/** Turns the text of a model into text and citations while it streams. One of these serves all steps of one answer. */
export interface Citations {
  /** Takes a piece of text of any length; gives what can be told by now, in order; [] while all of it is held back. */
  push(text: string): readonly CitationPiece[]
  /** Ends the text of a step and gives what was held back. The next step begins with fresh text but known citations. */
  end(): readonly CitationPiece[]
  /** Documents cited so far, each once, under the number it was first cited by, in order of appearance; in every mode. */
  cited(): readonly Citation[]
}

const lookAheadLimit = 2_000
// Longer runs of backticks are taken in parts of this length, so that a model gone astray costs linear time.
const runLimit = 64
const interesting = /[[【［`~\n]/g
const citationPlace = /(?:[\p{L}\p{N}.!?…。！？\0][)"'”’»*_`]*[^\S\n]+|\0)$/u

/** Whether a marker here can only be a citation: behind a word, a sentence or a marker, or before all text. */
const isCitationPlace = (context: string, next: string): boolean =>
  (context.trim() === '' && next !== ':') || citationPlace.test(context)

/** Makes a link safe to stand between the parentheses of a Markdown link. */
function toAddress(link: string): string {
  let depth = 0
  const isBalanced = [...link].every((char) => (depth += char === '(' ? 1 : char === ')' ? -1 : 0) >= 0) && depth === 0
  const unsafe = isBalanced ? /[\s\\<>]/g : /[\s\\<>()]/g
  return link.replace(unsafe, (char) => (char === '(' ? '%28' : char === ')' ? '%29' : encodeURIComponent(char)))
}

/** Stands for a marker in the context; a model does not write it. */
const passedMarker = '\u0000'
const contextLimit = 64
const removesSpaceBefore = /^(?:[\s.,;:!?)\]}]|$)/

/**
 * Finds the citations of one answer. Markers count outside of code and where they are not the text of a
 * Markdown link. Several numbers in one bracket become several links. An unknown number is dropped where a citation
 * would stand (behind a marker, or behind a space that follows a word or the end of a sentence) and stays elsewhere.
 * At most one citation is told per document. What comes out does not depend on how the text was split: a space is put
 * between text and link wherever the model left none, and a fence without a language is given `plaintext`.
 * @example
 * const citations = new CitationFilter({ mode: 'link', known: (n) => (n === 1 ? { document_id: 'a', link: 'u' } : undefined) })
 * citations.push('Yes[1].') // text 'Yes', citation 1, text ' [[1]](u)', text '.'
 */
export class CitationFilter implements Citations {
  readonly #mode: CitationMode
  readonly #known: CitationsOptions['known']
  /** State of the current step. */
  #code = createCodeTracker()
  /** The number that each document was first cited by. */
  readonly #cited = new Map<string, number>()
  readonly #pieces: CitationPiece[] = []
  /** Text that is not clear yet. */
  #held = ''
  #isLineStart = true
  /** Text that is clear, and in the mode `remove` the space behind it, which may go with a marker. */
  #spoken = ''
  #heldSpace = ''
  /** The last text of the model, with each marker that was placed as one sign. */
  #context = ''
  #saidAnything = false
  /** Text of the step before any output came through; undefined afterwards. */
  #unsaid: string | undefined = ''

  constructor({ mode, known }: CitationsOptions) {
    this.#mode = mode
    this.#known = known
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
    this.#spoken += this.#heldSpace
    const source = this.#unsaid ?? ''
    // A step whose every character was a marker still has something to say: what the model wrote.
    if (!this.#saidAnything && this.#spoken.trim() === '' && source.trim() !== '') this.#spoken = source
    this.#flush()
    this.#heldSpace = this.#context = this.#unsaid = ''
    this.#saidAnything = false
    this.#isLineStart = true
    this.#code = createCodeTracker()
    return this.#pieces.splice(0)
  }

  cited(): readonly Citation[] {
    return [...this.#cited].map(([documentId, number]) => ({ number, documentId }))
  }

  /** Reads all of the held text that is clear by now. */
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

  /** Handles the bracket at `at`; gives the index to go on from, or -1 to hold the text from here. */
  #takeBracket(at: number, ended: boolean): number {
    const held = this.#held
    const marker = this.#code.fence ? 'no' : readMarker(held, at, ended)
    if (marker === 'more') return -1
    let end = at + 1
    if (marker !== 'no') {
      const isProtected = marker.isLinkText || this.#code.covers(held.slice(at, at + lookAheadLimit), ended)
      if (isProtected === undefined) return -1
      end = marker.end
      if (!isProtected && this.#takeMarker(marker, held[end] ?? '')) return end
    }
    this.#pass(held.slice(at, end))
    return end
  }

  /** Tells the citations of a complete marker and puts links in its place; false when it has to be passed as text. */
  #takeMarker({ numbers }: Marker, next: string): boolean {
    const mode = this.#mode
    const documents = numbers.flatMap((number) => {
      const document = this.#known(number)
      return document ? [{ number, document }] : []
    })
    if (documents.length === 0 && (mode === 'keep' || !isCitationPlace(this.#context, next))) return false
    for (const { number, document } of documents) {
      if (this.#cited.has(document.document_id)) continue
      this.#cited.set(document.document_id, number)
      if (mode !== 'link') continue
      this.#flush()
      this.#pieces.push({ type: 'citation', number, documentId: document.document_id })
    }
    if (mode === 'keep') return false
    if (mode === 'remove' && removesSpaceBefore.test(next)) this.#heldSpace = ''
    if (mode === 'link' && documents.length > 0) {
      // Links are a piece of their own.
      this.#flush()
      const links = documents.map(({ number, document }) => `[[${number}]](${toAddress(document.link ?? '')})`)
      this.#spoken = (/[^\s\0]$/.test(this.#context) ? ' ' : '') + links.join(' ')
      this.#flush()
    }
    this.#context = (this.#context + passedMarker).slice(-contextLimit)
    return true
  }

  /** Handles a run of backticks or tildes; gives the index to go on from, or -1 to hold the text from here. */
  #takeRun(at: number, ended: boolean): number {
    const held = this.#held
    const char = held[at] ?? ''
    let end = at + 1
    while (held[end] === char && end - at < runLimit) end++
    if (end === held.length && end - at < runLimit && !ended) return -1
    this.#code.passRun({ char, length: end - at, startsLine: this.#isLineStart, next: held[end] })
    this.#pass(held.slice(at, end))
    return end
  }

  /** Passes text on. @param context what of it the model wrote; default: all of it */
  #pass(text: string, context: string = text): void {
    this.#context = (this.#context + context).slice(-contextLimit)
    if (this.#mode !== 'remove') {
      this.#spoken += text
      return
    }
    // A removed marker may take the space before it along, so that space waits for what follows.
    const visible = text.replace(/(?<![^\S\n])[^\S\n]+$/, '')
    if (visible !== '') {
      this.#spoken += this.#heldSpace + visible
      this.#heldSpace = ''
    }
    this.#heldSpace += text.slice(visible.length)
  }

  #flush(): void {
    if (this.#spoken === '') return
    this.#pieces.push({ type: 'text', content: this.#spoken })
    this.#saidAnything ||= this.#spoken.trim() !== ''
    this.#spoken = ''
  }
}
