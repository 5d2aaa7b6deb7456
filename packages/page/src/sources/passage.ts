import type { SearchDoc } from '@inlay/protocol'
import { withoutMarkup } from '../markdown/plain-text.ts'

export interface Piece {
  readonly text: string
  readonly mark: 'none' | 'match' | 'quote'
}

/** The displayed text of a passage: its highlights, or its beginning if there are none. */
export function piecesOf(document: SearchDoc): readonly Piece[] {
  const fragments = document.match_highlights.filter((fragment) => fragment.trim() !== '')
  if (fragments.length === 0) return [{ text: withoutMarkup(document.blurb), mark: 'none' }]
  // A blurb longer than the highlights that are in it shows more of the same text.
  const only = fragments.length === 1 ? fragments[0] : undefined
  if (only !== undefined && stripped(only).length < document.blurb.length && document.blurb.includes(stripped(only)))
    return marked(withoutMarkup(document.blurb.replace(stripped(only), () => only)))
  return marked(withoutMarkup(fragments.join(' … ')))
}

/**
 * Passage text with the quoted sentence marked. Compared by letters and digits alone, since an answer loses line
 * breaks and Markdown of its source. Nothing found leaves the pieces as they are.
 */
export function withQuote(pieces: readonly Piece[], quote: string): readonly Piece[] {
  const text = pieces.map((piece) => piece.text).join('')
  const range = rangeOf(text, quote)
  if (range === undefined) return pieces
  const result: Piece[] = []
  let at = 0
  for (const piece of pieces) {
    const [start, end] = [at, at + piece.text.length]
    const cuts = [start, Math.min(Math.max(range[0], start), end), Math.min(Math.max(range[1], start), end), end]
    for (let cut = 0; cut < 3; cut++) {
      const part = text.slice(cuts[cut], cuts[cut + 1])
      if (part === '') continue
      const mark = cut === 1 ? 'quote' : piece.mark
      const last = result.at(-1)
      if (mark === 'quote' && last?.mark === 'quote') result.splice(-1, 1, { text: last.text + part, mark })
      else result.push({ text: part, mark })
    }
    at = end
  }
  return result
}

/** Text of a passage around a quote, or from its beginning, with the words marked that its highlights have. */
export function piecesOfText(markdown: string, document: SearchDoc, quote: string): readonly Piece[] {
  const matches = document.match_highlights.flatMap(marked).filter(({ mark }) => mark === 'match')
  const words = new Set(matches.map(({ text }) => text.toLowerCase()))
  return excerpt(withoutMarkup(markdown), quote)
    .split(/([\p{L}\p{N}]+)/u)
    .filter((part) => part !== '')
    .map((text) => ({ text, mark: words.has(text.toLowerCase()) ? 'match' : 'none' }))
}

/** About how much of a passage is shown, in characters; a quote is always shown whole. */
const excerptLength = 600

/** Whole paragraphs around a quote, as many as fit. */
function excerpt(text: string, quote: string): string {
  const paragraphs = text.split(/\n\s*\n/)
  const quoted = paragraphs.findIndex((paragraph) => hasQuote(paragraph, quote))
  let [first, last] = quoted < 0 ? [0, 0] : [quoted, quoted]
  let length = paragraphs[first]?.length ?? 0
  for (let isGrowing = true; isGrowing;) {
    isGrowing = false
    for (const at of [last + 1, first - 1]) {
      const paragraph = paragraphs[at]
      if (paragraph === undefined || length + paragraph.length > excerptLength) continue
      length += paragraph.length
      first = Math.min(first, at)
      last = Math.max(last, at)
      isGrowing = true
    }
  }
  const shown = paragraphs.slice(first, last + 1)
  if (first > 0) shown.unshift('…')
  if (last < paragraphs.length - 1) shown.push('…')
  return shown.join('\n\n')
}

export function hasQuote(text: string, quote: string): boolean {
  return rangeOf(text, quote) !== undefined
}

/** A part of the text of a passage that its card shows, by which the passage is found in its document. */
export function sampleOf(document: SearchDoc): string {
  const [fragment = document.blurb] = document.match_highlights
  return stripped(fragment).slice(0, 300)
}

export function stripped(fragment: string): string {
  return fragment.replaceAll(/<\/?hi>/g, '')
}

function marked(fragment: string): readonly Piece[] {
  // Not one pattern: it would look for the end of each beginning that has none.
  const parts = fragment.split('</hi>')
  const last = parts.pop() ?? ''
  const pieces = parts.flatMap((part): Piece[] => {
    const start = part.indexOf('<hi>')
    if (start < 0) return [{ text: `${part}</hi>`, mark: 'none' }]
    return [
      { text: part.slice(0, start), mark: 'none' },
      { text: stripped(part.slice(start)), mark: 'match' },
    ]
  })
  return [...pieces, { text: last, mark: 'none' } as const].filter(({ text }) => text !== '')
}

/** Shortest quote worth marking, in letters and digits: fewer are found anywhere. */
const shortestQuote = 12

/** Where a quote stands in a text, by letters and digits alone. */
export function rangeOf(text: string, quote: string): [number, number] | undefined {
  const { letters, places } = lettersOf(text)
  const wanted = lettersOf(quote).letters
  if (wanted.length < shortestQuote) return undefined
  const position = letters.indexOf(wanted)
  if (position < 0) return undefined
  const [first, last] = [places[position], places[position + wanted.length - 1]]
  return first === undefined || last === undefined ? undefined : [first, last + 1]
}

/** Letters and digits of a text in lower case, and where each unit of them stands. */
function lettersOf(text: string): { readonly letters: string; readonly places: readonly number[] } {
  const places: number[] = []
  let letters = ''
  let at = 0
  for (const character of text) {
    // One by one, since the end of a word has a form of its own. Signs that lower case adds are left out.
    const [letter = ''] = character.toLowerCase()
    if (/[\p{L}\p{N}]/u.test(letter)) {
      letters += letter
      for (let unit = 0; unit < letter.length; unit++) places.push(at + unit)
    }
    at += character.length
  }
  return { letters, places }
}
