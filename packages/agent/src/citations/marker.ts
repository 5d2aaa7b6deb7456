/** A complete citation marker found in the text of a model. */
export interface Marker {
  readonly numbers: readonly number[]
  /** Index just behind the marker, and behind the address when it was written as a rendered link. */
  readonly end: number
  /** `[n]` is the text of a Markdown link, so it is no citation at all. */
  readonly isLinkText: boolean
}

/** `no`: nothing here is a marker. `more`: only text that has not arrived yet can tell. */
export type MarkerMatch = Marker | 'no' | 'more'

// A list longer than this is data, not a citation; it also bounds what is held back.
const markerLimit = 128
const addressLimit = 2_000

const open = '[\\[【［]'
const close = '[\\]】］]'
// `1`, `^1`, `document 1`, `1†source`, `1†L3-L8`, and ranges `1-3`.
const word = '(?:\\^|(?:documents?|docs?|sources?|results?|passages?) ?#?)?'
const item = `${word}\\d+(?: ?[-–] ?\\d+)?(?:†[^\\]】］]{0,40})?`
const list = `${item}(?:[,;] ?${item})*`
const single = new RegExp(`${open}(${list})${close}`, 'iy')
const double = new RegExp(`${open}{2}(${list})${close}{2}`, 'iy')
const begunSingle = new RegExp(`${open}(?:${item}[,;] ?)*(?:${begunWord()}|${item}|${item}[-–])?$`, 'iy')
const begunDouble = new RegExp(`${open}{2}(?:(?:${item}[,;] ?)*(?:${begunWord()}|${item})?|${list}${close}?)$`, 'iy')

/** Any beginning of what may stand before a number. */
function begunWord(): string {
  const words = ['documents ', 'docs ', 'sources ', 'results ', 'passages ', '^']
  const beginnings = words.flatMap((whole) => Array.from(whole, (_, index) => whole.slice(0, index + 1)))
  return [...new Set([...beginnings, ...words.map((whole) => whole.replace('s ', ' '))])]
    .map((text) => text.replace('^', '\\^'))
    .join('|')
}

// A wider range is a span of something else.
const longestRange = 20

/** Numbers of a list of markers. */
function numbersIn(text: string): number[] {
  return text.split(/[,;]/).flatMap((item) => {
    const [, from, to] = /(\d+)(?: ?[-–] ?(\d+))?/.exec(item) ?? []
    const [first, last] = [Number(from), Number(to ?? from)]
    if (last < first || last - first >= longestRange) return to === undefined ? [first] : [first, last]
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

const matchAt = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index
  return pattern.exec(text)
}

/** Index behind the address in parentheses that starts at `index`; -1 when it is none, undefined when it is cut off. */
function addressEnd(text: string, index: number): number | undefined {
  let depth = 0
  for (const { 0: char, index: at } of text.slice(index, index + addressLimit).matchAll(/\\.|[\s()]/g)) {
    if (char === '(') depth++
    else if (char === ')' && --depth === 0) return index + at + 1
    else if (/^\s/.test(char)) return -1
  }
  return text.length - index < addressLimit ? undefined : -1
}

/**
 * Reads the citation marker that begins at `index`: `[1]`, `[1, 2]`, `[1;2]`, `[1-3]`, `[[1]]`, `[^1]`, `[document 1]`,
 * `[1†source]`, the same in 【】 and ［］ and any mixture.
 * A link a model wrote as citations are rendered, `[[1]](address)`, is a marker whose end is behind the address.
 * @param ended whether the text is complete; when it is not, a marker is only told once the character behind it is known
 */
export function readMarker(text: string, index: number, ended: boolean): MarkerMatch {
  const doubled = matchAt(double, text, index)
  const match = doubled ?? matchAt(single, text, index)
  const rest = text.length - index
  if (!ended && rest < markerLimit && (matchAt(begunDouble, text, index) || matchAt(begunSingle, text, index)))
    return 'more'
  if (!match || match[0].length > markerLimit) return 'no'

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
