import { createCodeTracker } from './citation-code.ts'
import { readMarker, type Marker } from './citation-marker.ts'

/**
 * What becomes of a citation marker: `link` renders it as `[[n]](link)`, `keep` leaves it as the model wrote it,
 * `remove` deletes it.
 */
export type CitationMode = 'link' | 'keep' | 'remove'

/** What a citation number stands for; a SearchDoc is one. */
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

/** What {@link createCitations} needs. */
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

// Stands for a marker in the text that the next marker is judged by; a model does not write it.
const passedMarker = '\u0000'
const contextLimit = 64
const lookAheadLimit = 2_000
// Longer runs of backticks are taken in parts of this length, so that a model gone astray costs linear time.
const runLimit = 64
const interesting = /[[【［`~\n]/g
const citationPlace = /(?:[\p{L}\p{N}.!?…。！？\0][)"'”’»*_`]*[^\S\n]+|\0)$/u
const removesSpaceBefore = /^(?:[\s.,;:!?)\]}]|$)/

/** Makes a link safe to stand between the parentheses of a Markdown link. */
function toAddress(link: string): string {
  let depth = 0
  const isBalanced = [...link].every((char) => (depth += char === '(' ? 1 : char === ')' ? -1 : 0) >= 0) && depth === 0
  const unsafe = isBalanced ? /[\s\\<>]/g : /[\s\\<>()]/g
  return link.replace(unsafe, (char) => (char === '(' ? '%28' : char === ')' ? '%29' : encodeURIComponent(char)))
}

/**
 * Makes the citation processor of one answer. Markers count outside of code and where they are not the text of a
 * Markdown link. Several numbers in one bracket become several links. An unknown number is dropped where a citation
 * would stand (behind a marker, or behind a space that follows a word or the end of a sentence) and stays elsewhere.
 * At most one citation is told per document. What comes out does not depend on how the text was split: a space is put
 * between text and link wherever the model left none, and a fence without a language is given `plaintext`.
 * @example
 * const citations = createCitations({ mode: 'link', known: (n) => (n === 1 ? { document_id: 'a', link: 'u' } : undefined) })
 * citations.push('Yes[1].') // text 'Yes', citation 1, text ' [[1]](u)', text '.'
 */
export function createCitations(options: CitationsOptions): Citations {
  const { mode, known } = options
  const code = createCodeTracker()
  const cited = new Map<string, number>()
  let pieces: CitationPiece[] = []
  let spoken = ''
  let held = ''
  let heldSpace = ''
  let context = ''
  let isLineStart = true
  // What the step said before anything of it came through; undefined once something did.
  let unsaid: string | undefined = ''

  const flush = (): void => {
    if (spoken === '') return
    pieces.push({ type: 'text', content: spoken })
    if (spoken.trim() !== '') unsaid = undefined
    spoken = ''
  }
  const speak = (text: string): void => {
    if (mode !== 'remove') spoken += text
    else {
      // A removed marker may take the space before it along, so that space waits for what follows.
      const visible = text.replace(/[^\S\n]+$/, '')
      if (visible !== '') {
        spoken += heldSpace + visible
        heldSpace = ''
      }
      heldSpace += text.slice(visible.length)
    }
  }
  const pass = (text: string): void => {
    if (text === '') return
    context = (context + text).slice(-contextLimit)
    speak(text)
  }

  const cite = (number: number, document: CitableDocument): void => {
    if (cited.has(document.document_id)) return
    cited.set(document.document_id, number)
    if (mode === 'link') {
      flush()
      pieces.push({ type: 'citation', number, documentId: document.document_id })
    }
  }

  /** Handles a marker; false when it is no citation and has to be passed as text. */
  const citeMarker = (marker: Marker, next: string): boolean => {
    const documents = marker.numbers.flatMap((number) => {
      const document = known(number)
      return document ? [{ number, document }] : []
    })
    if (documents.length === 0 && (mode === 'keep' || !citationPlace.test(context))) return false
    for (const { number, document } of documents) cite(number, document)
    if (mode === 'keep') return false
    if (mode === 'remove' && removesSpaceBefore.test(next)) heldSpace = ''
    if (mode === 'link' && documents.length > 0) {
      const links = documents.map(({ number, document }) => `[[${number}]](${toAddress(document.link ?? '')})`)
      flush()
      spoken = (/[^\s\0]$/.test(context) ? ' ' : '') + links.join(' ')
      flush()
    }
    context = (context + passedMarker).slice(-contextLimit)
    isLineStart = false
    return true
  }

  /** Handles the bracket at `at`; gives the index to go on from, or -1 to hold the text from here. */
  const takeBracket = (at: number, ended: boolean): number => {
    const marker = readMarker(held, at, ended)
    if (marker === 'more') return -1
    let end = at + 1
    if (marker !== 'no') {
      const isProtected = marker.isLinkText || code.covers(held.slice(at, at + lookAheadLimit), ended)
      if (isProtected === undefined) return -1
      end = marker.end
      if (!isProtected && citeMarker(marker, held[end] ?? '')) return end
    }
    isLineStart = false
    pass(held.slice(at, end))
    return end
  }

  const takeRun = (at: number, ended: boolean): number => {
    const char = held[at] ?? ''
    let end = at + 1
    while (held[end] === char && end - at < runLimit) end++
    if (end === held.length && end - at < runLimit && !ended) return -1
    code.passRun({ char, length: end - at, startsLine: isLineStart, next: held[end] })
    isLineStart = false
    pass(held.slice(at, end))
    return end
  }

  const takeLineEnd = (at: number): number => {
    if (code.passLineEnd(context)) speak('plaintext')
    isLineStart = true
    pass('\n')
    return at + 1
  }

  const take = (ended: boolean): void => {
    let at = 0
    while (at < held.length) {
      interesting.lastIndex = at
      const found = interesting.exec(held)
      const stop = found ? found.index : held.length
      const plain = held.slice(at, stop)
      if (plain !== '') isLineStart &&= /^[\s>]*$/.test(plain)
      pass(plain)
      at = stop
      if (!found) break
      const isBracket = found[0] !== '\n' && found[0] !== '`' && found[0] !== '~'
      if (isBracket && code.inFence()) pass(held.slice(at, ++at))
      else {
        const next = found[0] === '\n' ? takeLineEnd(at) : isBracket ? takeBracket(at, ended) : takeRun(at, ended)
        if (next === -1) break
        at = next
      }
    }
    held = held.slice(at)
  }

  const release = (): readonly CitationPiece[] => {
    flush()
    const released = pieces
    pieces = []
    return released
  }

  return {
    push(text) {
      if (unsaid !== undefined) unsaid += text
      held += text
      take(false)
      return release()
    },
    end() {
      take(true)
      spoken += heldSpace
      // A step whose every character was a marker still has something to say: what the model wrote.
      if (unsaid?.trim() && spoken.trim() === '') spoken = unsaid
      const released = release()
      held = heldSpace = context = ''
      isLineStart = true
      unsaid = ''
      code.reset()
      return released
    },
    cited: () => [...cited].map(([documentId, number]) => ({ number, documentId })),
  }
}
