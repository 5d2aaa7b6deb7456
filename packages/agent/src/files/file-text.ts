import type { FileSection } from './contracts.ts'

/** A file as one text, its parts under their headings. */
export function toText(sections: readonly FileSection[]): string {
  return sections.map(({ heading, text }) => (heading === undefined ? text : `## ${heading}\n\n${text}`)).join('\n\n')
}
