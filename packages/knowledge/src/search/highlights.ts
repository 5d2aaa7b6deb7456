import { commonWordsOf, englishWords } from '@inlay/text'
import { createWordFinder, type FoundWord } from './found-words.ts'

/** Most fragments of one passage, and their length in characters, as in the reference. */
const mostFragments = 4
const fragmentLength = 100
/** What a fragment shows before its first match. */
const leadLength = 25

/** Makes pieces of texts that show where the words of one query occur. */
export type Highlighter = (text: string) => string[]

/**
 * Makes a highlighter: pieces of a text in which the words of the query occur, each occurrence in `<hi>`…`</hi>`, best
 * piece first. Words count in all their common forms: `configure` also marks `configured`.
 * @returns at most four pieces for a text; [] when no word of the query occurs in it
 */
export function createHighlighter(query: string): Highlighter {
  const finder = createWordFinder(query, commonWordsOf(query) ?? englishWords)
  return (text) =>
    toGroups(finder?.in(text) ?? [])
      .toSorted((left, right) => right.variety - left.variety || left.start - right.start)
      .slice(0, mostFragments)
      .map((group) => mark(text, group))
}

/** Matches that one fragment shows. */
interface Group {
  readonly start: number
  readonly words: readonly FoundWord[]
  /** How many different words it holds. */
  readonly variety: number
}

function toGroups(words: readonly FoundWord[]): Group[] {
  const groups: Group[] = []
  for (let at = 0; at < words.length;) {
    const start = words[at]!.start
    const limit = Math.max(start - leadLength + fragmentLength, words[at]!.end)
    const group: FoundWord[] = []
    while (at < words.length && words[at]!.end <= limit) group.push(words[at++]!)
    groups.push({ start, words: group, variety: new Set(group.map(({ stem }) => stem)).size })
  }
  return groups
}

function mark(text: string, { words }: Group): string {
  const marks: { readonly start: number; end: number }[] = []
  for (const { start, end } of words) {
    const last = marks.at(-1)
    // Overlapping pairs of characters become one mark.
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else marks.push({ start, end })
  }
  const first = marks[0]!
  const start = startBefore(text, first.start)
  const end = endAfter(text, marks.at(-1)!.end, Math.max(start + fragmentLength, first.end))
  let marked = ''
  let from = start
  for (const match of marks) {
    marked += `${text.slice(from, match.start)}<hi>${text.slice(match.start, match.end)}</hi>`
    from = match.end
  }
  return (marked + text.slice(from, end))
    .replaceAll(/^ {0,3}#{1,6} /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Characters in which the last word begins: segmenting costs more than all the rest. */
const segmentedLength = 20

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Where a fragment may begin: a little before its first match, at the beginning of a word. */
function startBefore(text: string, match: number): number {
  const from = Math.max(0, match - leadLength)
  if (from === 0) return 0
  const window = text.slice(from, match)
  const space = /\s/.exec(window)
  if (space) return from + space.index + 1
  // No spaces: the first word may have begun before the window, the second one begins in it.
  const [, second] = segmenter.segment(window)
  return second ? from + second.index : match
}

/** Where a fragment may end: after its last match, at the latest at `to`, at the end of a word. */
function endAfter(text: string, match: number, to: number): number {
  if (to >= text.length) return text.length
  const window = text.slice(match, to)
  for (let at = window.length; at >= window.length / 3; at--) if (/\s/.test(text[match + at]!)) return match + at
  // No spaces: the last word may go on after the window.
  const from = Math.max(0, window.length - segmentedLength)
  let last = from
  for (const { index } of segmenter.segment(window.slice(from))) last = from + index
  return match + last
}
