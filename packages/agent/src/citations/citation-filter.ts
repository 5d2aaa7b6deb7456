import { createCodeTracker, readMarker, type CodeTracker, type Marker } from './marker.ts'

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

/** Judges complete markers: tells citations, places links, drops what names nothing. */
interface Judge {
  /** Handles a marker; false when it is no citation and has to be passed as text. */
  take(marker: Marker, next: string): boolean
  cited(): readonly Citation[]
}

function createJudge({ mode, known }: CitationsOptions, output: CitationOutput): Judge {
  const cited = new Map<string, number>()
  const cite = (number: number, document: CitableDocument): void => {
    if (cited.has(document.document_id)) return
    cited.set(document.document_id, number)
    if (mode === 'link') output.cite(number, document.document_id)
  }
  return {
    take({ numbers }, next) {
      const documents = numbers.flatMap((number) => {
        const document = known(number)
        return document ? [{ number, document }] : []
      })
      if (documents.length === 0 && (mode === 'keep' || !isCitationPlace(output.context(), next))) return false
      for (const { number, document } of documents) cite(number, document)
      if (mode === 'keep') return false
      const links = documents.map(({ number, document }) => `[[${number}]](${toAddress(document.link ?? '')})`)
      output.placeMarker(mode === 'link' ? links : [], next)
      return true
    },
    cited: () => [...cited].map(([documentId, number]) => ({ number, documentId })),
  }
}

/** What the reading of a step knows. */
interface Scan {
  readonly judge: Judge
  readonly output: CitationOutput
  readonly code: CodeTracker
  /** Text that is not clear yet. */
  held: string
  isLineStart: boolean
}

/** Handles the bracket at `at`; gives the index to go on from, or -1 to hold the text from here. */
function takeBracket({ judge, output, code, held }: Scan, at: number, ended: boolean): number {
  const marker = code.inFence() ? 'no' : readMarker(held, at, ended)
  if (marker === 'more') return -1
  let end = at + 1
  if (marker !== 'no') {
    const isProtected = marker.isLinkText || code.covers(held.slice(at, at + lookAheadLimit), ended)
    if (isProtected === undefined) return -1
    end = marker.end
    if (!isProtected && judge.take(marker, held[end] ?? '')) return end
  }
  output.pass(held.slice(at, end))
  return end
}

/** Handles a run of backticks or tildes; gives the index to go on from, or -1 to hold the text from here. */
function takeRun({ output, code, held, isLineStart }: Scan, at: number, ended: boolean): number {
  const char = held[at] ?? ''
  let end = at + 1
  while (held[end] === char && end - at < runLimit) end++
  if (end === held.length && end - at < runLimit && !ended) return -1
  code.passRun({ char, length: end - at, startsLine: isLineStart, next: held[end] })
  output.pass(held.slice(at, end))
  return end
}

function takeLineEnd({ output, code }: Scan, at: number): number {
  if (code.passLineEnd(output.context())) output.insert('plaintext')
  output.pass('\n')
  return at + 1
}

/** Reads all of the held text that is clear by now. */
function read(scan: Scan, ended: boolean): void {
  const { held } = scan
  let at = 0
  while (at < held.length) {
    interesting.lastIndex = at
    const match = interesting.exec(held)
    const stop = match ? match.index : held.length
    if (stop > at) scan.output.pass(held.slice(at, stop))
    scan.isLineStart &&= /^[\s>]*$/.test(held.slice(at, stop))
    at = stop
    if (!match) break
    const [sign] = match
    const isRun = sign === '`' || sign === '~'
    const next = sign === '\n' ? takeLineEnd(scan, at) : isRun ? takeRun(scan, at, ended) : takeBracket(scan, at, ended)
    if (next === -1) break
    scan.isLineStart = sign === '\n'
    at = next
  }
  scan.held = held.slice(at)
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
  const output = createCitationOutput(options.mode)
  const judge = createJudge(options, output)
  const scan: Scan = { judge, output, code: createCodeTracker(), held: '', isLineStart: true }
  // What the step wrote before anything of it came through; undefined once something did.
  let unsaid: string | undefined = ''
  return {
    push(text) {
      if (unsaid !== undefined) unsaid += text
      scan.held += text
      read(scan, false)
      const pieces = output.release()
      if (pieces.some((piece) => piece.type === 'text' && piece.content.trim() !== '')) unsaid = undefined
      return pieces
    },
    end() {
      read(scan, true)
      const pieces = output.endStep(unsaid ?? '')
      unsaid = ''
      scan.isLineStart = true
      scan.code.reset()
      return pieces
    },
    cited: judge.cited,
  }
}

/** Collects what the processor says, in the order in which clients are told. */
export interface CitationOutput {
  /** Says text of the model. */
  pass(text: string): void
  /** Says text that is not the model's. */
  insert(text: string): void
  /** Tells a citation, after all text so far. */
  cite(number: number, documentId: string): void
  /** Puts rendered links, as a piece of their own, in place of a marker; with none the marker vanishes. */
  placeMarker(links: readonly string[], next: string): void
  /** The last text of the model, with each marker that was placed as one sign. */
  context(): string
  /** Gives what was said since the last release. */
  release(): CitationPiece[]
  /** Says what was held back and forgets the step. */
  endStep(source: string): CitationPiece[]
}

/** Stands for a marker in the context; a model does not write it. */
export const passedMarker = '\u0000'

const contextLimit = 64
const removesSpaceBefore = /^(?:[\s.,;:!?)\]}]|$)/

/** Makes the output of one answer. */
export function createCitationOutput(mode: CitationMode): CitationOutput {
  const pieces: CitationPiece[] = []
  let [spoken, heldSpace, context] = ['', '', '']
  let saidAnything = false

  const flush = (): void => {
    if (spoken === '') return
    pieces.push({ type: 'text', content: spoken })
    saidAnything ||= spoken.trim() !== ''
    spoken = ''
  }
  const insert = (text: string): void => {
    if (mode !== 'remove') return void (spoken += text)
    // A removed marker may take the space before it along, so that space waits for what follows.
    const visible = text.replace(/[^\S\n]+$/, '')
    if (visible !== '') {
      spoken += heldSpace + visible
      heldSpace = ''
    }
    heldSpace += text.slice(visible.length)
  }
  const remember = (text: string): void => void (context = (context + text).slice(-contextLimit))
  const release = (): CitationPiece[] => {
    flush()
    return pieces.splice(0)
  }

  return {
    insert,
    pass(text) {
      remember(text)
      insert(text)
    },
    cite(number, documentId) {
      flush()
      pieces.push({ type: 'citation', number, documentId })
    },
    placeMarker(links, next) {
      if (mode === 'remove' && removesSpaceBefore.test(next)) heldSpace = ''
      if (links.length > 0) {
        flush()
        spoken = (/[^\s\0]$/.test(context) ? ' ' : '') + links.join(' ')
        flush()
      }
      remember(passedMarker)
    },
    context: () => context,
    release,
    endStep(source) {
      spoken += heldSpace
      // A step whose every character was a marker still has something to say: what the model wrote.
      if (!saidAnything && spoken.trim() === '' && source.trim() !== '') spoken = source
      const released = release()
      heldSpace = context = ''
      saidAnything = false
      return released
    },
  }
}
