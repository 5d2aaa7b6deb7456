import { type Span, characterEnd, estimateTokens } from './blocks.ts'

type Splitter = (text: string, span: Span) => Iterable<Span>

/** From coarse to fine; each covers its span without gaps. */
const splitters: readonly Splitter[] = [splitLines, splitSentences, splitSpaces, splitWords, splitCharacters]

/**
 * Splits a span that is too long: at line ends if that suffices, otherwise between sentences, at spaces, between words
 * of scripts without spaces, and as the last resort between characters.
 * @param options.room maximum tokens of the first piece
 * @param options.limit maximum tokens of each further piece; with a limit below 16, pieces of single characters may
 * exceed it
 * @returns consecutive spans that cover everything
 */
export function* splitSpan(text: string, span: Span, options: { room: number; limit: number }): Generator<Span> {
  let { room } = options
  let piece: { start: number; end: number; tokens: number } | undefined
  // The units fit into every piece; the first piece may have less room than the others.
  for (const unit of toUnits(text, span, Math.min(room, options.limit), 0)) {
    const tokens = estimateTokens(text, unit.start, unit.end)
    if (piece && piece.tokens + tokens > room) {
      yield piece
      piece = undefined
      room = options.limit
    }
    if (piece) piece = { start: piece.start, end: unit.end, tokens: piece.tokens + tokens }
    else piece = { ...unit, tokens }
  }
  if (piece) yield piece
}

/** Splits into the coarsest units that each fit into the limit. */
function* toUnits(text: string, span: Span, limit: number, level: number): Generator<Span> {
  const split = splitters[level]!
  for (const unit of split(text, span)) {
    const fits = level === splitters.length - 1 || estimateTokens(text, unit.start, unit.end, limit) <= limit
    if (fits) yield unit
    else yield* toUnits(text, unit, limit, level + 1)
  }
}

function* splitLines(text: string, { start, end }: Span): Generator<Span> {
  for (let from = start; from < end;) {
    const lineEnd = text.indexOf('\n', from)
    const to = lineEnd < 0 || lineEnd >= end ? end : lineEnd + 1
    yield { start: from, end: to }
    from = to
  }
}

/** Maximum input of a segmenter, whose time and memory grow with the text. */
const windowLength = 4000

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const words = new Intl.Segmenter(undefined, { granularity: 'word' })

function splitSentences(text: string, span: Span): Iterable<Span> {
  return segment(text, span, sentences)
}

function* splitSpaces(text: string, { start, end }: Span): Generator<Span> {
  for (let from = start; from < end;) {
    let to = from
    while (to < end && !isSpace(text.charCodeAt(to))) to++
    while (to < end && isSpace(text.charCodeAt(to))) to++
    yield { start: from, end: to }
    from = to
  }
}

/** Words, and runs of other characters as one unit: each sign would otherwise be a separate unit. */
function* splitWords(text: string, span: Span): Generator<Span> {
  let signs: Span | undefined
  for (const piece of segment(text, span, words)) {
    const isRun = signs !== undefined && piece.end - signs.start <= characterRun
    if (signs && (piece.isWord || !isRun)) yield signs
    if (piece.isWord) yield piece
    signs = piece.isWord ? undefined : { start: isRun ? signs!.start : piece.start, end: piece.end }
  }
  if (signs) yield signs
}

/** Uses `Intl.Segmenter`, which supports scripts without spaces, such as Thai, Chinese and Japanese. */
function* segment(
  text: string,
  { start, end }: Span,
  segmenter: Intl.Segmenter,
): Generator<Span & { readonly isWord: boolean }> {
  for (let from = start; from < end;) {
    const to = from + windowLength < end ? boundaryBefore(text, from, from + windowLength) : end
    for (const { index, segment: piece, isWordLike } of segmenter.segment(text.slice(from, to)))
      yield { start: from + index, end: from + index + piece.length, isWord: isWordLike === true }
    from = to
  }
}

/** The last white space of a window; without any, its end, moved behind the character it would split. */
function boundaryBefore(text: string, from: number, to: number): number {
  for (let at = to; at > from + (to - from) / 2; at--) if (isSpace(text.charCodeAt(at - 1))) return at
  return characterEnd(text, to)
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13)
}

/** Much finer than a chunk, and coarse enough to be cheap. */
const characterRun = 16

function* splitCharacters(text: string, { start, end }: Span): Generator<Span> {
  for (let from = start; from < end;) {
    const to = Math.min(characterEnd(text, from + characterRun), end)
    yield { start: from, end: to }
    from = to
  }
}
