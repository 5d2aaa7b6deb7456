import type { FileSection } from '@inlay/agent'
import type { Sheet } from './contracts.ts'

/** Most characters shown of one sheet, as in the reference. */
export const maxSheetCells = 500_000

export function toSheets(sections: readonly FileSection[]): Sheet[] {
  return sections.map(({ heading, text }, index) => cutSheet(heading ?? `Sheet ${index + 1}`, toCsv(text)))
}

/** A sheet within the limit, cut at the end of a row. */
export function cutSheet(name: string, csv: string): Sheet {
  if (csv.length <= maxSheetCells) return { name, csv, truncated: false }
  const rowEnd = csv.lastIndexOf('\n', maxSheetCells)
  return { name, csv: csv.slice(0, rowEnd > 0 ? rowEnd : maxSheetCells).toWellFormed(), truncated: true }
}

/** Whether a line is the rule under the header of a Markdown table. */
const rule = /^\|(?: *:?-{3,}:? *\|)+$/

/** A table of Markdown as CSV; other lines become rows of one cell. */
export function toCsv(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !rule.test(line))
    .map((line) => (line.startsWith('|') ? cellsOf(line) : [line]).map(quoted).join(','))
    .join('\n')
}

function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
