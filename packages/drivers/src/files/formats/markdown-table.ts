/**
 * The first row is the header, or the title above the table if it has one cell alone. Cells must be single lines of
 * Markdown; `|` and line breaks are escaped here. Empty columns and rows are omitted; "" if all cells are empty.
 */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const filled = rows.map((row) => row.map(toCell)).filter((row) => row.some((cell) => cell !== ''))
  const columns = filledColumns(filled)
  const isTitled = filled.length > 2 && cellCount(filled[0]!) === 1 && cellCount(filled[1]!) > 1
  const [title = '', body] = isTitled ? [filled[0]!.find(Boolean), filled.slice(1)] : ['', filled]
  const header = body[0]
  if (!header) return ''
  // Markdown knows a table by a head with a cell over each column.
  const lines = [line(header, columns, columns.length), `|${' --- |'.repeat(columns.length)}`]
  for (const row of body.slice(1)) lines.push(line(row, columns, 1))
  return (title === '' ? '' : `${title}\n\n`) + lines.join('\n')
}

const cellCount = (row: readonly string[]): number => row.filter(Boolean).length

function toCell(text: string): string {
  const flat = /[\n\r\t|]/.test(text) ? text.replace(/(?<!\s)\s*[\n\r\t]\s*/g, ' ').replace(/(?<!\\)\|/g, '\\|') : text
  return flat.trim()
}

function filledColumns(rows: readonly (readonly string[])[]): number[] {
  const filled = new Set<number>()
  for (const row of rows) for (const [column, cell] of row.entries()) if (cell !== '') filled.add(column)
  return [...filled].sort((a, b) => a - b)
}

/** Rows that end early stay short, as Markdown allows: a table with one wide row does not fill up with bars. */
function line(row: readonly string[], columns: readonly number[], minCells: number): string {
  const cells: string[] = []
  for (const column of columns) {
    if (column >= row.length && cells.length >= minCells) break
    cells.push(row[column] ?? '')
  }
  while (cells.length > minCells && cells.at(-1) === '') cells.pop()
  return `|${cells.map((cell) => ` ${cell} |`).join('')}`
}
