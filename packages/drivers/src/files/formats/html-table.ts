import { isHidden, type Writing } from './html-inline.ts'
import { markdownTable } from './markdown-table.ts'
import { childOf, elementsIn, isElement, type Element } from './markup.ts'

/** Rows of a table in order, without those of nested tables. */
function rowsOf(table: Element): Element[] {
  const rows: Element[] = []
  for (const part of table.children) {
    if (typeof part === 'string' || isHidden(part)) continue
    if (part.name === 'tr') rows.push(part)
    else if (['thead', 'tbody', 'tfoot'].includes(part.name)) for (const row of rowsOf(part)) rows.push(row)
  }
  return rows
}

function cellsOf(row: Element): Element[] {
  return row.children.filter(isElement).filter((cell) => /^t[dh]$/.test(cell.name) && !isHidden(cell))
}

/** It contains tables, headings or code, or has one column without a header. */
export function isLayout(table: Element): boolean {
  const role = table.attributes['role']
  if (role === 'presentation' || role === 'none') return true
  let hasHeader = false
  for (const { name } of elementsIn(table)) {
    if (name === 'table' || name === 'pre' || /^h[1-6]$/.test(name)) return true
    hasHeader ||= name === 'th'
  }
  return !hasHeader && rowsOf(table).every((row) => cellsOf(row).length <= 1)
}

/** Longest cell that is repeated in the rows it spans, and most characters that repeating may add to a file. */
const repeatedCharacters = 200
const maxFilledCharacters = 1_000_000

/**
 * A data table as Markdown. A cell that spans rows is repeated in each, so that every row is complete, and a head that
 * spans columns over each of them; any other cell that spans columns, and a title over the table, is put in the first.
 */
export function tableMarkdown(table: Element, writing: Writing, cellText: (cell: Element) => string): string {
  const rows: string[][] = []
  /** By column: the text of a cell that spans down from above, and the number of rows left. */
  const spanning = new Map<number, { text: string; rowsLeft: number }>()
  let isBeforeHead = true
  let headEnd = 0
  for (const row of rowsOf(table)) {
    const cells: string[] = []
    const own = cellsOf(row)
    const isHead = own.length > 1 && (isBeforeHead || rows.length < headEnd || own.every(({ name }) => name === 'th'))
    for (const cell of own) {
      fill(cells, spanning, writing)
      const text = cellText(cell)
      const repeated = text.length > repeatedCharacters ? '' : text
      const rowsLeft = spanOf(cell, 'rowspan') - 1
      const end = cells.length + spanOf(cell, 'colspan')
      cells.push(text)
      if (rowsLeft > 0) spanning.set(cells.length - 1, { text: repeated, rowsLeft })
      while (cells.length < end) {
        const covered = isHead ? repeated : ''
        if (rowsLeft > 0) spanning.set(cells.length, { text: covered, rowsLeft })
        cells.push(repeatedText(covered, writing))
      }
      if (isHead) headEnd = Math.max(headEnd, rows.length + rowsLeft + 1)
    }
    fill(cells, spanning, writing)
    rows.push(cells)
    isBeforeHead &&= cells.filter(Boolean).length <= 1
  }
  const caption = childOf(table, 'caption')
  return [caption ? cellText(caption) : '', markdownTable(rows)].filter(Boolean).join('\n\n')
}

function fill(cells: string[], spanning: Map<number, { text: string; rowsLeft: number }>, writing: Writing): void {
  for (;;) {
    const column = cells.length
    const above = spanning.get(column)
    if (!above) return
    cells.push(repeatedText(above.text, writing))
    above.rowsLeft--
    if (above.rowsLeft === 0) spanning.delete(column)
  }
}

function repeatedText(text: string, { seen }: Writing): string {
  seen.filledCharacters += text.length
  return seen.filledCharacters > maxFilledCharacters ? '' : text
}

function spanOf(cell: Element, attribute: 'rowspan' | 'colspan'): number {
  const span = Number.parseInt(cell.attributes[attribute] ?? '1', 10)
  return Number.isNaN(span) ? 1 : Math.min(Math.max(span, 1), attribute === 'rowspan' ? 1000 : 50)
}
