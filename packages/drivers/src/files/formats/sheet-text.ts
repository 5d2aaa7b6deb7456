import type { Budget } from '../budget.ts'
import { markdownTable } from './markdown-table.ts'

/** Texts by column. Most sheets use few of the columns they could. */
export type Row = Map<number, string>

/** A merged range; rows and columns from 0, the last ones included. */
export interface Merge {
  readonly top: number
  readonly bottom: number
  readonly left: number
  readonly right: number
}

/** Maximum number of merged ranges that are read of a sheet. */
export const maxMerges = 10_000

export interface MergedSheet {
  readonly merges: readonly Merge[]
  /** Index in the list of rows, by the row's number in the sheet, from 1. */
  readonly places: ReadonlyMap<number, number>
  readonly budget: Budget
  readonly characters: number
}

/** Repeats the text of merged cells in the rows and columns that they cover, and joins merged headings. */
export function spreadMerges(rows: Row[], sheet: MergedSheet): void {
  let { characters } = sheet
  const { merges, places, budget } = sheet
  const mergedRows = merges.map((merge) => ({ ...merge, row: places.get(merge.top + 1) }))
  for (const { row: first, top, bottom, left, right } of mergedRows) {
    const text = first === undefined ? undefined : rows[first]!.get(left)
    if (first === undefined || text === undefined) continue
    // A title over the whole table stays one cell; a heading over some columns is repeated above each.
    const below = rows[places.get(bottom + 2) ?? first]!
    const isTitle = rows[first]!.size === 1 && Math.min(...below.keys()) >= left
    for (let at = top; at <= bottom; at++) {
      const index = places.get(at + 1)
      if (index === undefined || (isTitle && at > top)) continue
      for (let column = left; column <= (isTitle ? left : right); column++) {
        if (rows[index]!.has(column)) continue
        characters += text.length
        budget.expectText(characters)
        rows[index]!.set(column, text)
      }
    }
  }
  joinHeadings(rows, merges, places)
}

/** Joins two rows of headings, the upper ones merged over several columns, into one: `2024 Q1`. */
function joinHeadings(rows: Row[], merges: readonly Merge[], places: ReadonlyMap<number, number>): void {
  const wide = merges.filter(({ top, bottom, left, right }) => top === bottom && right > left)
  for (const { top } of wide) {
    const at = places.get(top + 1)
    if (at === undefined || rows[at]!.size < 2) continue
    const before = rows[at - 1]
    const below = rows[at + 1]
    const isFirst = before === undefined || before.size < 2
    if (!isFirst || !below || below.size < 2 || [...below.values()].some((text) => /^[\d.,%€$£ -]+$/.test(text)))
      continue
    for (const [column, text] of rows[at]!) {
      const lower = below.get(column)
      below.set(column, lower === undefined || lower === text ? text : `${text} ${lower}`)
    }
    rows[at]!.clear()
  }
}

/** Blocks of cells separated by an empty row become separate tables; a block with a single column becomes plain lines. */
export function sheetText(rows: readonly Row[], budget: Budget): string {
  const blocks: Row[][] = [[]]
  for (const row of rows) {
    if (row.size === 0) blocks.push([])
    else blocks.at(-1)!.push(row)
  }
  return blocks
    .map((block) => blockText(block, budget))
    .filter(Boolean)
    .join('\n\n')
}

function blockText(rows: readonly Row[], budget: Budget): string {
  const plain = (row: Row): string => [...row.values()].join('').trim()
  if (rows.every((row) => row.size === 1)) return rows.map(plain).join('\n')
  const titles = rows.findIndex((row) => row.size !== 1)
  if (titles > 0)
    return [...rows.slice(0, titles).map(plain), blockText(rows.slice(titles), budget)].filter(Boolean).join('\n\n')
  const used = new Set<number>()
  for (const row of rows) for (const column of row.keys()) used.add(column)
  const columnPositions = new Map([...used].sort((a, b) => a - b).map((column, place) => [column, place]))
  // Empty cells become bars, of which cells far apart make more than there is text.
  const bars = rows.reduce(
    (sum, row) => sum + (columnPositions.get(Math.max(...row.keys())) ?? 0) * emptyCell.length,
    0,
  )
  budget.expectText(bars)
  return markdownTable(rows.map((row) => lineOf(row, columnPositions)))
}

function lineOf(row: Row, columnPositions: ReadonlyMap<number, number>): string[] {
  const line: string[] = []
  for (const [column, text] of row) {
    const place = columnPositions.get(column) ?? 0
    while (line.length < place) line.push('')
    line[place] = text
  }
  return line
}

const emptyCell = '  |'
