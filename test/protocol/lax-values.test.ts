import * as v from 'valibot'
import { boolean, float, integer, isInlayError, parseWith } from '@inlay/protocol'
import { dateTime } from '@inlay/protocol/internal/timestamps'
import { queryBoolean, queryInteger } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'

/** The value that a schema returns, or the type of its issue. */
function read(schema: v.GenericSchema, value: unknown): unknown {
  try {
    return parseWith(v.object({ field: schema }), { field: value }, 'body').field
  } catch (error) {
    if (!isInlayError(error)) throw error
    return (error.data['issues'] as { type: string }[])[0]?.type
  }
}

const ofBoolean: [unknown, unknown][] = [
  ...['true', 'TRUE', 'True', 'on', 'yes', 'y', 't', '1', 1, 1.0, true].map((value): [unknown, unknown] => [
    value,
    true,
  ]),
  ...['false', 'False', 'off', 'NO', 'n', 'f', '0', 0, -0, false].map((value): [unknown, unknown] => [value, false]),
  ['maybe', 'bool_parsing'],
  ['', 'bool_parsing'],
  [' true', 'bool_parsing'],
  [2, 'bool_parsing'],
  [0.5, 'bool_type'],
  [null, 'bool_type'],
  [[], 'bool_type'],
  [{}, 'bool_type'],
]

const ofInteger: [unknown, unknown][] = [
  ['12', 12],
  ['-1', -1],
  [' 7 ', 7],
  ['+4_2', 42],
  ['042', 42],
  ['12.0', 12],
  ['-0', 0],
  [1.0, 1],
  [true, 1],
  [false, 0],
  ['9007199254740991', 9_007_199_254_740_991],
  ['1.5', 'int_parsing'],
  ['1e3', 'int_parsing'],
  ['0x10', 'int_parsing'],
  ['__1', 'int_parsing'],
  ['٣', 'int_parsing'],
  ['', 'int_parsing'],
  [1.5, 'int_from_float'],
  ['9007199254740992', 'int_parsing_size'],
  [2 ** 53, 'int_parsing_size'],
  [Infinity, 'finite_number'],
  [null, 'int_type'],
  [[1], 'int_type'],
]

const ofFloat: [unknown, unknown][] = [
  ['0.5', 0.5],
  [' .5 ', 0.5],
  ['-1e-3', -0.001],
  ['1_0.5', 10.5],
  ['7', 7],
  [true, 1],
  ['warm', 'float_parsing'],
  ['', 'float_parsing'],
  ['1,5', 'float_parsing'],
  ['nan', 'finite_number'],
  ['-Infinity', 'finite_number'],
  ['1e999', 'finite_number'],
  [null, 'float_type'],
  [{}, 'float_type'],
]

const ofDateTime: [unknown, unknown][] = [
  [1_700_000_000, '2023-11-14T22:13:20.000Z'],
  [1_700_000_000_500, '2023-11-14T22:13:20.500Z'],
  ['1700000000', '2023-11-14T22:13:20.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['May', 'datetime_parsing'],
  [1e300, 'datetime_type'],
  [true, 'datetime_type'],
]

describe('a body takes what the lax mode of pydantic takes', () => {
  test.each(ofBoolean)('boolean %j is %j', (value, expected) => expect(read(boolean, value)).toBe(expected))
  test.each(ofInteger)('integer %j is %j', (value, expected) => expect(read(integer, value)).toBe(expected))
  test.each(ofFloat)('number %j is %j', (value, expected) => expect(read(float, value)).toBe(expected))
  test.each(ofDateTime)('date-time %j is %j', (value, expected) => expect(read(dateTime, value)).toBe(expected))
})

describe('a query reads the same words', () => {
  const texts = (cases: [unknown, unknown][]): [string, unknown][] =>
    cases.flatMap(([value, expected]): [string, unknown][] => (typeof value === 'string' ? [[value, expected]] : []))
  test.each(texts(ofBoolean))('boolean %j is %j', (value, expected) => expect(read(queryBoolean, value)).toBe(expected))
  test.each(texts(ofInteger).filter(([value]) => !value.startsWith('9007')))('integer %j is %j', (value, expected) =>
    expect(read(queryInteger({}), value)).toBe(expected),
  )
})

test('bounds hold for what a text stands for', () => {
  const bounded = v.pipe(integer, v.minValue(1), v.maxValue(9))
  expect(['1', '9', '0', '10'].map((value) => read(bounded, value))).toEqual([
    1,
    9,
    'greater_than_equal',
    'less_than_equal',
  ])
})

test('numbers are not text, and null stays what it means', () => {
  expect(read(v.string(), 7)).toBe('string_type')
  expect(read(v.nullish(boolean, true), null)).toBe(true)
})
