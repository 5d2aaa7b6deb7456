/** A document cited under a number. */
export interface Citation {
  readonly number: number
  readonly documentId: string
}

/**
 * What becomes of a citation marker: `link` renders it as `[[n]](link)`, `keep` leaves it as the model wrote it,
 * `remove` deletes it.
 */
export type CitationMode = 'link' | 'keep' | 'remove'

/** A part of the answer, in the order in which clients are told. */
export type CitationPiece =
  | { readonly type: 'text'; readonly content: string }
  | ({ readonly type: 'citation' } & Citation)

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
