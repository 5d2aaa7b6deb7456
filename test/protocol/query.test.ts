import { parseWith, queryInteger } from '@inlay/protocol'
import { expect, test } from 'vitest'

const refusal = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error
  }
}

test('a whole number is read from its digits', () => {
  expect(['0', '-7', '+5', ' 12 ', '2147483647'].map((text) => parseWith(queryInteger({}), text, 'query'))).toEqual([
    0, -7, 5, 12, 2147483647,
  ])
})

test('a number that no record can have as its id is refused, so that no database has to', () => {
  for (const text of ['2147483648', '1099511627776', '-2147483649', '999999999999999'])
    expect(refusal(() => parseWith(queryInteger({}), text, 'path'))).toMatchObject({ code: 'VALIDATION_FAILED' })
})

test('bounds that are given may go further', () => {
  const most = Number.MAX_SAFE_INTEGER
  expect(parseWith(queryInteger({ least: 0, most }), '999999999999999', 'query')).toBe(999_999_999_999_999)
})

test.each(['', ' ', '1.5', '1e3', '0x10', '1__000', '٣', '9'.repeat(16)])('%j is no whole number', (text) => {
  expect(refusal(() => parseWith(queryInteger({}), text, 'query'))).toMatchObject({ code: 'VALIDATION_FAILED' })
})
