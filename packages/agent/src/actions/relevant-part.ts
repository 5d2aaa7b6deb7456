import { keysOf, stopWords, wordPattern } from '@inlay/text'

export interface TextPart {
  readonly text: string
  /** Position in the whole text, in characters. */
  readonly start: number
  readonly end: number
}

/** Size of the pieces that are scored, in characters: longer paragraphs are split, shorter ones joined. */
const pieceCharacters = 800
const minPieceCharacters = 200
const maxWords = 60

/**
 * The part of a long text that matches a question best: adjacent paragraphs with the question's words in any form,
 * where rare words count more. A text that fits is returned whole; without a matching word, its beginning is.
 * @param limit maximum characters of the part, at least 200
 * @param core range that the part has to contain instead, no longer than the limit
 */
export function relevantPart(text: string, question: string, limit: number, core?: Piece): TextPart {
  if (text.length <= limit) return { text, start: 0, end: text.length }
  const pieces = core
    ? [...piecesOf(text, 0, core.start), core, ...piecesOf(text, core.end, text.length)]
    : piecesOf(text, 0, text.length)
  const scores = core ? pieces.map((piece) => Number(piece === core)) : scoresOf(text, pieces, question)
  const { from, to } = bestRun(pieces, scores, limit)
  const start = pieces[from]?.start ?? 0
  const end = Math.min(pieces[to]?.end ?? text.length, start + limit)
  return { text: text.slice(start, end).trim(), start, end }
}

type Piece = Omit<TextPart, 'text'>

const blank = /\n[ \t]*\n\s*/g
const fence = /^[ \t]*(?:`{3}|~{3})/gm

/** A paragraph that ends in a colon stays with the next one, and code blocks are not split. */
function piecesOf(text: string, from: number, to: number): Piece[] {
  const pieces: Piece[] = []
  const stretch = text.slice(from, to)
  let start = from
  const add = (end: number): void => {
    while (end - start > pieceCharacters) {
      const cut = cutBefore(text, start, start + pieceCharacters)
      pieces.push({ start, end: cut })
      start = cut
    }
    if (end > start) pieces.push({ start, end })
  }
  let read = 0
  let inFence = false
  for (const { index, 0: gap } of stretch.matchAll(blank)) {
    if ((stretch.slice(read, index).match(fence)?.length ?? 0) % 2 === 1) inFence = !inFence
    read = index
    if (inFence || stretch[index - 1] === ':' || from + index - start < minPieceCharacters) continue
    add(from + index)
    start = from + index + gap.length
  }
  add(to)
  return pieces
}

/** A place to cut: after a sentence, else at a space, else exactly here. */
function cutBefore(text: string, start: number, end: number): number {
  const window = text.slice(start, end)
  const sentence = Math.max(window.lastIndexOf('. '), window.lastIndexOf('\n'), window.lastIndexOf('。'))
  const at = sentence > pieceCharacters / 2 ? sentence : window.lastIndexOf(' ')
  return at > 0 ? start + at + 1 : end
}

/** Scores each piece for the question: the sum of ln(1 + pieces / pieces with the word) over its words. */
function scoresOf(text: string, pieces: readonly Piece[], question: string): number[] {
  const wanted = new Set(keysOf(withoutStopWords(question)).slice(0, maxWords))
  const held = pieces.map(({ start, end }) => new Set(keysOf(text.slice(start, end)).filter((key) => wanted.has(key))))
  const counts = new Map<string, number>()
  for (const keys of held) for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  const weight = (key: string): number => Math.log(1 + pieces.length / (counts.get(key) ?? 1))
  return held.map((keys) => [...keys].reduce((sum, key) => sum + weight(key), 0))
}

/** If the question has only common words, they are kept. */
function withoutStopWords(question: string): string {
  const words = question.match(wordPattern) ?? []
  const rare = words.filter((word) => !stopWords.has(word.toLowerCase()))
  return (rare.length > 0 ? rare : words).join(' ')
}

/** The adjacent pieces with the best score that fit, the earliest among equals, extended by what follows them. */
function bestRun(pieces: readonly Piece[], scores: readonly number[], limit: number): { from: number; to: number } {
  let best = { from: 0, to: 0, score: -1 }
  let from = 0
  let score = 0
  for (const [to, piece] of pieces.entries()) {
    score += scores[to] ?? 0
    while (from < to && piece.end - (pieces[from]?.start ?? 0) > limit) score -= scores[from++] ?? 0
    if (score > best.score + 1e-9) best = { from, to, score }
  }
  let { from: first, to: last } = best
  const fits = (start: number, end: number): boolean =>
    (pieces[end]?.end ?? Infinity) - (pieces[start]?.start ?? 0) <= limit
  // The text before the first match often introduces the topic, so one piece of it is included.
  while (first < last && scores[first] === 0) first++
  if (first > 0 && fits(first - 1, last)) first--
  while (last + 1 < pieces.length && fits(first, last + 1)) last++
  while (first > 0 && fits(first - 1, last)) first--
  return { from: first, to: last }
}
