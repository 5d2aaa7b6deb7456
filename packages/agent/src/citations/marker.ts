export interface Marker {
  readonly numbers: readonly number[]
  /** Index behind the marker; if it was written as a link, behind its address. */
  readonly end: number
  /** Whether `[n]` is the text of a Markdown link, and so no citation. */
  readonly isLinkText: boolean
}

/** `no`: not a marker. `more`: only the text that follows can tell. */
export type MarkerMatch = Marker | 'no' | 'more'

// A longer list is data, not a citation; also bounds the text that is held back.
const maxMarkerLength = 128
export const maxAddressLength = 2_000

const open = '[\\[【［]'
const close = '[\\]】］]'
// `1`, `document 1`, `1†source`, `1†L3-L8`, and ranges `1-3`. `^1` is a footnote of the text.
const word = '(?:(?:documents?|docs?|sources?|results?|passages?) ?#?)?'
// A comma before another number belongs to the list, never to the note: if both could match it, each comma would double
// the matching time.
const note = `†(?:[^\\]】］,;]|[,;](?! ?${word}\\d)){0,40}`
const item = `${word}\\d+(?: ?[-–] ?\\d+)?(?:${note})?`
const list = `${item}(?:[,;] ?${item})*`
const single = new RegExp(`${open}(${list})${close}`, 'iy')
const double = new RegExp(`${open}{2}(${list})${close}{2}`, 'iy')
// Includes the beginning of a range: `2-`, `2 `, `2 - `.
const begunItem = `(?:${begunWord()}|${item}|${word}\\d+ ?[-–]? ?)`
const begunSingle = new RegExp(`${open}(?:${item}[,;] ?)*${begunItem}?$`, 'iy')
const begunDouble = new RegExp(`${open}{2}(?:(?:${item}[,;] ?)*${begunItem}?|${list}${close}?)$`, 'iy')

/** All beginnings of the words that may precede a number. */
function begunWord(): string {
  const words = ['documents ', 'docs ', 'sources ', 'results ', 'passages ']
  const beginnings = words.flatMap((whole) => Array.from(whole, (_, index) => whole.slice(0, index + 1)))
  return [...new Set([...beginnings, ...words.map((whole) => whole.replace('s ', ' '))])].join('|')
}

// A wider range means something else.
const maxRange = 20

function numbersIn(text: string): number[] {
  return text.split(/[,;]/).flatMap((item) => {
    const [, from, to] = /(\d+)(?: ?[-–] ?(\d+))?/.exec(item) ?? []
    const [first, last] = [Number(from), Number(to ?? from)]
    if (last < first || last - first >= maxRange) return to === undefined ? [first] : [first, last]
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

const matchAt = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index
  return pattern.exec(text)
}

/** Index behind the parenthesised address at `index`; -1 when there is none, undefined when it is cut off. */
function addressEnd(text: string, index: number): number | undefined {
  let depth = 0
  for (let at = index; at < Math.min(text.length, index + maxAddressLength); at++) {
    const char = text[at]!
    if (char === '\\' && /./.test(text[at + 1] ?? '')) at++
    else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at + 1
    else if (/\s/.test(char)) return -1
  }
  return text.length - index < maxAddressLength ? undefined : -1
}

/**
 * Reads the citation marker at `index`: `[1]`, `[1, 2]`, `[1;2]`, `[1-3]`, `[[1]]`, `[document 1]`, `[1†source]`, also
 * in 【】 or ［］ or mixed. For a marker written as a rendered link, `[[1]](address)`, the end is behind the address.
 * @param ended whether the text is complete; otherwise a marker counts only once the character behind it is known
 */
export function readMarker(text: string, index: number, ended: boolean): MarkerMatch {
  const doubled = matchAt(double, text, index)
  const match = doubled ?? matchAt(single, text, index)
  const rest = text.length - index
  if (!ended && rest < maxMarkerLength && (matchAt(begunDouble, text, index) || matchAt(begunSingle, text, index)))
    return 'more'
  if (!match || match[0].length > maxMarkerLength) return 'no'

  const end = index + match[0].length
  const numbers = numbersIn(match[1] ?? '')
  const next = text[end]
  if (next === undefined) return ended ? { numbers, end, isLinkText: false } : 'more'
  if (next !== '(' || text[end - 1] !== ']') return { numbers, end, isLinkText: false }
  if (!doubled) return { numbers, end, isLinkText: true }

  const behind = addressEnd(text, end) ?? (ended ? -1 : undefined)
  if (behind === undefined || (behind === text.length && !ended)) return 'more'
  return { numbers, end: behind === -1 ? end : behind, isLinkText: false }
}

/** Whether a text has a marker with a known number outside of code. */
export function hasMarker(text: string, known: (number: number) => unknown): boolean {
  const sentence = text.replace(/`[^`]*`/g, '')
  const bracket = /[[【［]/g
  for (let match = bracket.exec(sentence); match; match = bracket.exec(sentence)) {
    const marker = readMarker(sentence, match.index, true)
    if (
      typeof marker === 'object' &&
      !marker.isLinkText &&
      marker.numbers.some((number) => known(number) !== undefined)
    )
      return true
  }
  return false
}
