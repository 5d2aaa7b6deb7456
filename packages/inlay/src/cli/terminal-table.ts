import { cellsOf } from '@inlay/text/markdown'
import type { Output } from './output.ts'
import { clipped, widthOf, wrapped } from './word-wrap.ts'

export const tableLine = /^\s*\|/

/** Whether these lines are a table: their second one separates the header from the rows. */
export const isTable = (lines: readonly string[]): boolean =>
  lines.length > 1 && cellsOf(lines[1]!).every((cell) => /^:?-+:?$/.test(cell))

const separator = ' │ '
/** A column is at least as wide as this and its longest word; words longer than the second figure are cut. */
const [leastWidth, maxWordWidth] = [8, 20]

/** Draws a table of Markdown within a width; too wide a one as a list of the cells of each row. @param shown the text of a cell without markup */
export function drawTable(
  lines: readonly string[],
  columns: number,
  styled: Output['styled'],
  shown: (cell: string) => string,
): string {
  const [header = [], marks = [], ...rows] = lines.map(cellsOf)
  const texts = [header, ...rows].map((row) => header.map((_, at) => shown(row[at] ?? '')))
  const widths = widthsOf(texts, columns)
  if (widths === undefined) return records(texts, columns, styled)
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─')
  const [head = '', ...body] = texts.map((cells, row) => {
    const parts = cells.map((cell, at) => linesOf(cell, widths[at]!))
    return Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, line) =>
      parts
        .map((part, at) => {
          const text = part[line] ?? ''
          return aligned(row === 0 && text !== '' ? styled('bold', text) : text, widths[at]!, marks[at] ?? '')
        })
        .join(separator)
        .trimEnd(),
    ).join('\n')
  })
  return [head, rule, ...body].join('\n')
}

/** Takes from the widest until all fit; undefined if they would become too narrow. */
function widthsOf(texts: readonly (readonly string[])[], columns: number): number[] | undefined {
  const widest = (at: number, measure: (cell: string) => number): number =>
    Math.max(1, ...texts.map((cells) => measure(cells[at]!)))
  const widths = texts[0]!.map((_, at) => widest(at, (cell) => Math.min(columns, widthOf(cell))))
  const least = widths.map((width, at) => {
    const longestWord = widest(at, (cell) => Math.max(...cell.split(/\s+/).map(widthOf)))
    return Math.min(width, Math.max(leastWidth, Math.min(maxWordWidth, longestWord)))
  })
  const total = (figures: readonly number[]): number => figures.reduce((sum, figure) => sum + figure, 0)
  const room = columns - separator.length * (widths.length - 1)
  if (total(least) > room) return undefined
  for (let over = total(widths) - room; over > 0; over--) {
    const slack = widths.map((width, at) => (width > least[at]! ? width : 0))
    widths[slack.indexOf(Math.max(...slack))]!--
  }
  return widths
}

const linesOf = (cell: string, width: number): string[] =>
  wrapped(cell, width)
    .split('\n')
    .flatMap((line) => clipped(line, width))

function aligned(text: string, width: number, mark: string): string {
  const space = width - widthOf(text)
  const before = !mark.endsWith(':') ? 0 : mark.startsWith(':') ? Math.floor(space / 2) : space
  return ' '.repeat(before) + text + ' '.repeat(space - before)
}

function records(
  [header = [], ...rows]: readonly (readonly string[])[],
  columns: number,
  styled: Output['styled'],
): string {
  return rows
    .map((cells) =>
      cells.map((cell, at) => wrapped(`- ${styled('bold', `${header[at]}:`)} ${cell}`, columns)).join('\n'),
    )
    .join('\n\n')
}
