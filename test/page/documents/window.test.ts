import { expect, test } from 'vitest'
import { rowsBetween, topOf } from '../../../packages/page/src/documents/table/window.ts'

const closed = { row: 50, open: null }

test('rows of the window are drawn, and eight around them, however long the list is', () => {
  expect(rowsBetween(0, 500, 2000, closed)).toEqual({ first: 0, last: 18 })
  expect(rowsBetween(50_000, 50_500, 2000, closed)).toEqual({ first: 992, last: 1018 })
  expect(rowsBetween(99_800, 100_300, 2000, closed)).toEqual({ first: 1988, last: 1999 })
  // The list is not in the window yet.
  expect(rowsBetween(-900, -400, 2000, closed)).toEqual({ first: 0, last: 0 })
  expect(topOf(2000, closed)).toBe(100_000)
})

test('rows behind an open one are moved down by what it is higher', () => {
  const heights = { row: 50, open: { index: 10, extra: 300 } }
  expect([topOf(10, heights), topOf(11, heights), topOf(20, heights)]).toEqual([500, 850, 1300])
  // The window shows nothing but the open row.
  expect(rowsBetween(520, 820, 100, heights)).toEqual({ first: 2, last: 18 })
  expect(rowsBetween(850, 949, 100, heights)).toEqual({ first: 3, last: 20 })
})
