import type { ExtractedFile, ExtractedSection } from '@inlay/knowledge'
import type { Budget } from './budget.ts'
import { cleanText } from './encodings.ts'

/** Result of a reader; the other fields of {@link ExtractedFile} are added to it. */
export type Reading = Partial<Omit<ExtractedFile, 'sections' | 'mediaType'>> & Pick<ExtractedFile, 'sections'>

/** Makes one section, cleaned and counted; none when the text is blank. */
export function sectionsOf(
  text: string,
  budget: Budget,
  about: Omit<ExtractedSection, 'text'> = {},
): ExtractedSection[] {
  budget.takeText(text.length)
  // Blank lines at both ends go; the indentation of the first line stays.
  const clean = cleanText(text)
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd()
  if (clean === '') return []
  const heading = about.heading === undefined ? '' : oneLine(about.heading)
  return [{ text: clean, ...about, heading: heading === '' ? undefined : heading }]
}

export function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}

/** Longest value of one fact; titles and keywords of real files stay far below. */
const maxFactLength = 2000

/** Blank values are omitted, duplicates in a list removed, and a list with one value becomes that value. */
export function factsOf(
  facts: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string | string[]> {
  const entries: [string, string | string[]][] = []
  for (const [key, value] of Object.entries(facts)) {
    const list = (typeof value === 'string' ? [value] : (value ?? [])).map((each) =>
      oneLine(each).slice(0, maxFactLength),
    )
    const values = [...new Set(list)].filter((each) => each !== '')
    if (values.length > 0) entries.push([key, values.length === 1 ? values[0]! : values])
  }
  return Object.fromEntries(entries)
}

/** Names or keywords written in one string, parted by `;`, or by `,` when there is no `;`. */
export function listed(text: string | undefined, separators: RegExp = text?.includes(';') ? /;/ : /,/): string[] {
  return (text ?? '').split(separators).map(oneLine).filter(Boolean)
}
