/** Most fragments of one passage, and their length in characters, as in the reference. */
const mostFragments = 4
const fragmentLength = 100

/** Words too common to be worth a mark. */
const common = new Set(
  (
    'a an and are as at be but by can did do does for from had has have how i if in into is it its of on or our that the ' +
    'their then there these they this to was were what when where which who why will with you your'
  ).split(' '),
)

const wordForm = /[\p{L}\p{N}]+(?:['’][\p{L}]+)?/gu

/**
 * Pieces of a text in which the words of a query occur, each occurrence in `<hi>`…`</hi>`, best piece first. Words
 * count in all their common forms: `configure` also marks `configured`.
 * @returns at most four; [] when no word of the query occurs
 */
export function highlight(text: string, query: string): string[] {
  const wanted = new Set([...words(query)].map(({ word }) => toStem(word)).filter((stem) => !common.has(stem)))
  if (wanted.size === 0) return []
  const matches = [...words(text)]
    .map((found) => ({ ...found, stem: toStem(found.word) }))
    .filter(({ stem }) => wanted.has(stem))
  return toFragments(text, matches)
    .toSorted((left, right) => right.variety - left.variety || left.start - right.start)
    .slice(0, mostFragments)
    .map(({ start, end, marks }) => mark(text, start, end, marks))
}

interface Match {
  readonly start: number
  readonly end: number
  readonly stem: string
}

interface Fragment {
  readonly start: number
  readonly end: number
  readonly marks: readonly Match[]
  /** How many different words it holds. */
  readonly variety: number
}

function* words(text: string): Generator<{ word: string; start: number; end: number }> {
  for (const found of text.matchAll(wordForm)) {
    const start = found.index
    if (unspaced.test(found[0])) {
      // Scripts without spaces: pairs of characters, as the index has them.
      if (found[0].length === 1) yield { word: found[0], start, end: start + 1 }
      for (let at = 0; at + 1 < found[0].length; at++)
        yield { word: found[0].slice(at, at + 2), start: start + at, end: start + at + 2 }
    } else yield { word: found[0].toLowerCase(), start, end: start + found[0].length }
  }
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Cuts common endings off; only for comparing words with each other. */
function toStem(word: string): string {
  if (common.has(word) || word.length <= 3) return word
  const singular = word
    .replace(/['’]s$/, '')
    .replace(/(?:ies|ied)$/, 'y')
    .replace(/([^s])s$/, '$1')
  const stem = singular.replace(/(?:ing|edly|ed|ly|e)$/, '')
  return stem.length >= 4 ? stem : singular
}

function toFragments(text: string, matches: readonly Match[]): Fragment[] {
  const fragments: Fragment[] = []
  for (let at = 0; at < matches.length;) {
    const first = matches[at]!
    const start = wordStart(text, Math.max(0, first.start - Math.floor(fragmentLength / 4)), first.start)
    const limit = Math.max(start + fragmentLength, first.end)
    const marks: Match[] = []
    while (at < matches.length && matches[at]!.end <= limit) marks.push(matches[at++]!)
    const end = wordEnd(text, Math.min(text.length, limit), marks.at(-1)!.end)
    fragments.push({ start, end, marks, variety: new Set(marks.map(({ stem }) => stem)).size })
  }
  return fragments
}

/** The first beginning of a word from `from` on, at the latest `before`. */
function wordStart(text: string, from: number, before: number): number {
  if (from === 0) return 0
  const space = /\s/g
  space.lastIndex = from
  const found = space.exec(text)
  return found && found.index < before ? found.index + 1 : before
}

/** The last end of a word up to `to`, at the earliest `after`. */
function wordEnd(text: string, to: number, after: number): number {
  if (to === text.length) return to
  for (let at = to; at > after; at--) if (/\s/.test(text[at]!)) return at
  return after
}

function mark(text: string, start: number, end: number, marks: readonly Match[]): string {
  let marked = ''
  let from = start
  for (const match of merge(marks)) {
    marked += `${text.slice(from, match.start)}<hi>${text.slice(match.start, match.end)}</hi>`
    from = match.end
  }
  return (marked + text.slice(from, end))
    .replaceAll(/^ {0,3}#{1,6} /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Overlapping pairs of characters become one mark. */
function merge(marks: readonly Match[]): { start: number; end: number }[] {
  const merged: { start: number; end: number }[] = []
  for (const { start, end } of marks) {
    const last = merged.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else merged.push({ start, end })
  }
  return merged
}
