import type { Cell, Line } from './pdf-lines.ts'

interface Block {
  x: number
  end: number
  /** Base line of the last line. */
  y: number
  readonly lines: string[]
}

interface Row {
  readonly blocks: Block[]
  bottom: number
  /** Index of its first line. */
  readonly from: number
  readonly below: number
}

/** Distance of lines within a cell, in letter heights; the padding of rows is more. */
const maxLeading = 1.6
/** Less is a superscript. */
const minRise = 0.8
const maxGrowth = 1.12
const minColumns = 3

/**
 * The next cell begins right of the one before, and goes up again when that one has several lines.
 * @returns where the lines end that are no such table, when there is none
 */
export function drawnTableAt(lines: readonly Line[], from: number) {
  const rows: Row[] = []
  let hasRise = false
  let at = from
  for (; at < lines.length; at++) {
    const line = lines[at]!
    const before = rows.at(-1)?.blocks.at(-1)
    const above = before && before.lines.length > 1 ? before.y : Infinity
    // A heading stands larger than the cells above it.
    if (line.size > maxGrowth * lines[from]!.size) break
    const refused = line.cells.findIndex((cell) => !take(rows, cell, line, at))
    if (refused === 0) break
    if (refused > 0) return Math.max(at, from + 1)
    if (rows.length > 1 && rows[0]!.blocks.length < 2) return rows[1]!.from
    hasRise ||= line.y > above + minRise * line.size
  }
  let end = at
  // Such as a text below the table.
  while (rows.length > 0 && rows.at(-1)!.blocks.length < 2) end = rows.pop()!.from
  const again = Math.max(at, from + 1)
  const most = Math.max(0, ...rows.map(({ blocks }) => blocks.length))
  const full = rows.filter(({ blocks }) => blocks.length === most)
  // Newspapers have two rows of three columns.
  if (!hasRise || most < minColumns || full.length < 2 || (rows.length < 3 && most === minColumns)) return again
  const columns = Array.from({ length: most }, (_, column) => ({
    x: Math.min(...full.map(({ blocks }) => blocks[column]!.x)),
    end: Math.max(...full.map(({ blocks }) => blocks[column]!.end)),
  }))
  if (columns.some(({ x }, column) => column > 0 && x < columns[column - 1]!.end)) return again
  /** Lines of each cell. */
  const cells: string[][][] = []
  for (const { blocks } of rows) {
    const row: string[][] = columns.map(() => [])
    for (const { x, lines: text } of blocks) {
      // A merged cell stands in its first column.
      const column = columns.findIndex(({ end: right }) => right > x)
      if (row[column]?.length !== 0) return again
      row[column] = text
    }
    cells.push(row)
  }
  return { rows: cells, end }
}

/** Adds a cell to the rows; false when it cannot belong to a table with them. */
function take(rows: Row[], { text, x, end }: Cell, { y, size }: Line, from: number): boolean {
  const row = rows.at(-1)
  const before = row?.blocks.at(-1)
  const block: Block = { x, end, y, lines: [text] }
  if (!row || !before) {
    rows.push({ blocks: [block], bottom: y, from, below: Infinity })
    return true
  }
  const drop = before.y - y
  if (x < before.end && end > before.x && drop > 0 && drop <= maxLeading * size) {
    before.lines.push(text)
    Object.assign(before, { x: Math.min(x, before.x), end: Math.max(end, before.end), y })
  } else if (x >= before.end && y < row.below && y > row.bottom - 2 * size) row.blocks.push(block)
  else if (x < before.x && y < row.bottom) {
    rows.push({ blocks: [block], bottom: y, from, below: row.bottom })
    return true
  } else return false
  row.bottom = Math.min(row.bottom, y)
  return true
}
