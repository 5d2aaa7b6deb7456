import { storable } from '@inlay/protocol'
import { stem } from './search-words.ts'

/** Most characters of an excerpt, without the ellipses. */
const maxCharacters = 160
/** Characters shown before the first word found. */
const leadCharacters = 40
/** Most terms looked for: a long query in a script without spaces has hundreds. */
const maxTerms = 8
/** Most places looked at for a term that begins a word. */
const maxPlaces = 1_000

/**
 * The part of a text that holds the most of some index terms, on one line, with "…" where the text goes on.
 * @param terms as `termsOfStem` gives them
 */
export function excerptOf(text: string, terms: readonly string[]): string {
  // İ is the only character that gets longer in lower case, which would shift the places behind it.
  const lower = text.replaceAll('İ', 'i').toLowerCase()
  const places = terms
    .slice(0, maxTerms)
    .flatMap((term) => placeOf(lower, term) ?? [])
    .sort((left, right) => left - right)
  const countFrom = (first: number): number =>
    places.filter((place) => place >= first && place < first + maxCharacters - leadCharacters).length
  const first = places.reduce((best, place) => (countFrom(place) > countFrom(best) ? place : best), places[0] ?? 0)
  const before = onOneLine(text.slice(Math.max(0, first - 4 * leadCharacters), first))
  const after = onOneLine(text.slice(first, first + 4 * maxCharacters))
  const lead = before.length > leadCharacters ? before.slice(-leadCharacters).replace(/^\S*\s/, '') : before.trimStart()
  const rest = after.slice(0, maxCharacters - lead.length)
  const isCutBefore = lead.length < before.trimStart().length || first > 4 * leadCharacters
  const isCutAfter = rest.length < after.trimEnd().length || first + 4 * maxCharacters < text.length
  const end = isCutAfter ? `${rest.replace(/(?<=\s)\S*$/, '').trimEnd()}…` : rest.trimEnd()
  // A cut may split a character.
  return storable(`${isCutBefore ? '…' : ''}${lead}${end}`)
}

/**
 * Runs of spaces and line breaks count as one, so more is read than is shown. The marks of quoted lines go: on one line,
 * nobody can tell them from signs of the text.
 */
function onOneLine(text: string): string {
  return text.replace(/(^|\n)[ \t]*>[ \t>]*/g, '$1').replace(/\s+/g, ' ')
}

/** Position of a term in a text in lower case: at the beginning of a word or else anywhere. */
function placeOf(lower: string, term: string): number | undefined {
  const first = lower.indexOf(term)
  if (first < 0) return undefined
  for (let at = first, seen = 0; at >= 0 && seen < maxPlaces; at = lower.indexOf(term, at + 1), seen++) {
    if (/[\p{L}\p{N}]$/u.test(lower.slice(Math.max(0, at - 2), at))) continue
    const rest = /[\p{L}\p{N}]*/uy
    rest.lastIndex = at
    if (stem(rest.exec(lower)?.[0] ?? '').startsWith(term)) return at
  }
  return first
}
