import { createCodeTracker, type CodeTracker } from './code-spans.ts'
import { readMarker, type Marker } from './marker.ts'
import {
  createCitationOutput,
  type Citation,
  type CitationMode,
  type CitationOutput,
  type CitationPiece,
} from './output.ts'

/** What a citation number stands for; a SearchDoc is one. */
export interface CitableDocument {
  readonly document_id: string
  readonly link?: string | null
}

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
