import type { RowRange } from '../row-pages.ts'

/** Heights of rows in pixels: the same for all, except for an open one. */
export interface RowHeights {
  readonly row: number
  /** Index of the open row, and its additional height; null if none is open. */
  readonly open: { readonly index: number; readonly extra: number } | null
}

/** Rows that are drawn before and behind those in the window, so that none is missing while a person scrolls. */
const rowsAround = 8

/** Distance of a row from the top of the list. `topOf(count)` is the height of the list. */
export function topOf(index: number, { row, open }: RowHeights): number {
  return index * row + (open !== null && index > open.index ? open.extra : 0)
}

export function rowsBetween(top: number, bottom: number, count: number, heights: RowHeights): RowRange {
  const first = rowAt(top, heights) - rowsAround
  const last = rowAt(bottom, heights) + rowsAround
  return { first: clamp(first, count), last: clamp(last, count) }
}

function rowAt(y: number, { row, open }: RowHeights): number {
  const index = Math.floor(y / row)
  if (open === null || index <= open.index) return index
  return Math.max(open.index, Math.floor((y - open.extra) / row))
}

const clamp = (index: number, count: number): number => Math.max(0, Math.min(count - 1, index))
