import { termSet, type Unit, unitsOf } from '@inlay/text'

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
