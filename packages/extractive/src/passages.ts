import { termSet, type Unit, unitsOf, wordPattern } from '@inlay/text'

/** A passage as the search action gives it to the model. */
export interface SourcePassage {
  /** Citation number; undefined for text that has none, such as an earlier answer. */
  readonly number: number | undefined
  readonly title: string
  /** Headings above it, outermost first, with ` > ` between; absent when the content holds its headings itself. */
  readonly section?: string
  readonly content: string
}

/** A unit with what is known about it. */
export interface Candidate extends Unit {
  readonly passage: SourcePassage
  /** Position of the passage among the results, from 0. */
  readonly rank: number
  /** Position among the units of the passage, from 0. */
  readonly order: number
  readonly terms: ReadonlySet<string>
  /** The unit before it in the same block. */
  readonly before: Candidate | undefined
  /** How well it answers; above 0, mostly below 2. */
  score: number
  /** How good it is to read whatever was asked, 0 to 1. */
  quality: number
  /** How well it says what each subject of the question is; same order. */
  defines: readonly number[]
  /** Share of the topic that the nearest heading speaks of, 0 to 1. */
  nearShare: number
  /** The same, less where that heading is mostly about something else. */
  nearFit: number
  /** Share of what was asked for that the unit and the text beside it speak of, 0 to 1. */
  coverage: number
}

const summaryHeading =
  /^(?:synopsis|short description|summary|abstract|description|overview|introduction|long description)$/i

/** Whether a unit stands where a page says what it is about. */
export const isSummary = (unit: Unit, passage: SourcePassage): boolean =>
  summaryHeading.test(nearestHeading(unit, passage))

/** The heading a unit stands under; empty when there is none. */
export const nearestHeading = (unit: Unit, { section = '' }: SourcePassage): string =>
  unit.headings.at(-1) ?? section.split(' > ').at(-1) ?? ''

/** A synopsis often leaves out whose it is: the title goes before it. */
function withSubject(unit: Unit, passage: SourcePassage): Unit {
  const isBare =
    unit.kind === 'sentence' &&
    unit.index === 0 &&
    /^(?:synopsis|short description)$/i.test(nearestHeading(unit, passage))
  const title = passage.title.replace(/^about_/, '').replaceAll('_', ' ')
  if (!isBare || title === '' || unit.text.toLowerCase().includes(title.toLowerCase())) return unit
  return { ...unit, text: `${/^[\w-]+$/.test(title) ? `\`${title}\`` : title}: ${unit.text}` }
}

/**
 * Everything quotable of the passages in their order, not scored yet; a text that comes twice is there once.
 * @param symbols signs of the question: a unit that has one as code has it as a term
 */
export function collect(passages: readonly SourcePassage[], symbols: readonly string[]): Candidate[] {
  const seen = new Set<string>()
  return passages.flatMap((passage, rank) => {
    let before: Candidate | undefined
    const own: Candidate[] = []
    for (const [order, read] of unitsOf(passage.content).entries()) {
      const unit = withSubject(read, passage)
      const isNext = before?.block === unit.block
      const text = unit.code ? `${unit.text} ${unit.code.text}` : unit.text
      const terms = termSet(text)
      for (const symbol of symbols) if (text.includes(`\`${symbol}\``)) terms.add(symbol)
      const candidate: Candidate = {
        ...unit,
        passage,
        rank,
        order,
        terms,
        before: isNext ? before : undefined,
        score: 0,
        quality: 1,
        defines: [],
        nearShare: 0,
        nearFit: 0,
        coverage: 0,
      }
      before = candidate
      // Passages may overlap; the better ranked copy counts.
      if (!seen.has(unit.text) || unit.kind === 'code') own.push(candidate)
      seen.add(unit.text)
    }
    return own
  })
}

/** Ranking reads every word several times: longer texts are thinned out first, or an answer would take seconds. */
const longestText = 4000
/** Of all long texts together. */
const mostCharacters = 60_000
const mostWords = 50
const [partCharacters, longestPart] = [1000, 2000]

/** The passages as they are, but of long ones only the parts that share a word with the question. */
export function relevantParts(question: string, passages: readonly SourcePassage[]): readonly SourcePassage[] {
  if (passages.every(({ content }) => content.length <= longestText)) return passages
  const words = new Set((question.match(wordPattern) ?? []).slice(0, mostWords))
  const pattern = new RegExp([...words].map((word) => word.replace(/[.+]/g, '\\$&')).join('|') || '(?!)', 'iu')
  let room = mostCharacters
  return passages.map((passage) => {
    if (passage.content.length <= longestText) return passage
    const content = thinned(passage.content, pattern, room)
    room -= content.length
    return { ...passage, content }
  })
}

function thinned(text: string, pattern: RegExp, room: number): string {
  if (text.length <= room) return text
  let kept = ''
  for (let start = 0; start < text.length && kept.length < room;) {
    const end = endOfPart(text, start)
    const part = text.slice(start, end)
    if (pattern.test(part)) kept += kept === '' || kept.endsWith('\n') ? part : `\n\n${part}`
    start = end
  }
  return (kept || text).slice(0, Math.max(room, 0))
}

/** Behind a paragraph if possible, else a line, else a space. */
function endOfPart(text: string, start: number): number {
  const within = text.slice(start + partCharacters, start + longestPart)
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = within.indexOf(mark)
    if (at !== -1) return start + partCharacters + at + mark.length
  }
  return Math.min(start + longestPart, text.length)
}
