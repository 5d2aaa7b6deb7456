import { stem } from './search-words.ts'

/** Most characters of an excerpt, without the ellipses. */
const maxCharacters = 160
/** Characters shown before the first word found. */
const leadCharacters = 40

/**
 * The part of a text that holds the most of some index terms, on one line, with "…" where the text goes on.
 * @param terms as `termsOfStem` gives them
 */
export function excerptOf(text: string, terms: readonly string[]): string {
  const places = terms.flatMap((term) => placeOf(text, term) ?? []).sort((left, right) => left - right)
  const countFrom = (first: number): number =>
    places.filter((place) => place >= first && place < first + maxCharacters - leadCharacters).length
  const first = places.reduce((best, place) => (countFrom(place) > countFrom(best) ? place : best), places[0] ?? 0)
  // Runs of spaces and line breaks count as one, so more is read than is shown.
  const before = text.slice(Math.max(0, first - 4 * leadCharacters), first).replace(/\s+/g, ' ')
  const after = text.slice(first, first + 4 * maxCharacters).replace(/\s+/g, ' ')
  const lead = before.length > leadCharacters ? before.slice(-leadCharacters).replace(/^\S*\s/, '') : before.trimStart()
  const rest = after.slice(0, maxCharacters - lead.length)
  const isCutBefore = lead.length < before.trimStart().length || first > 4 * leadCharacters
  const isCutAfter = rest.length < after.trimEnd().length || first + 4 * maxCharacters < text.length
  return `${isCutBefore ? '…' : ''}${lead}${isCutAfter ? `${rest.replace(/(?<=\s)\S*$/, '').trimEnd()}…` : rest.trimEnd()}`.toWellFormed()
}

/** Position of a term in a text: at the beginning of a word or, in scripts without spaces, anywhere. */
function placeOf(text: string, term: string): number | undefined {
  // Terms are letters and digits, so nothing needs escaping.
  for (const { index, 0: word } of text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${term}[\\p{L}\\p{N}]*`, 'giu')))
    if (stem(word.toLowerCase()).startsWith(term)) return index
  const place = text.toLowerCase().indexOf(term)
  return place < 0 ? undefined : place
}
