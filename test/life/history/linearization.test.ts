import { describe, expect, test } from 'vitest'
import type { State } from '../versions.ts'
import { isLinearizable, type Change } from './linearization.ts'

describe('the check of an order', () => {
  const change = (state: State, began: number, ended: number, existed?: boolean): Change => ({
    state,
    began,
    ended,
    existed,
  })
  const cases: [string, boolean, Change[], State][] = [
    ['two posts in turn end in the later', true, [change(1, 0, 1, false), change(2, 2, 3, true)], 2],
    ['two posts in turn do not end in the earlier', false, [change(1, 0, 1, false), change(2, 2, 3, true)], 1],
    ['two posts at once end in either', true, [change(1, 0, 3, true), change(2, 1, 2, false)], 1],
    ['only one of them is the first', false, [change(1, 0, 3, false), change(2, 1, 2, false)], 1],
    ['a delete wins over what came before', false, [change(1, 0, 1, false), change(null, 2, 3, true)], 1],
    [
      'after a delete a post is the first again',
      true,
      [change(1, 0, 1, false), change(null, 2, 3, true), change(2, 4, 5, false)],
      2,
    ],
    ['what was not answered may have happened', true, [change(1, 0, 1, false), change(2, 2, Infinity)], 2],
    ['or not', true, [change(1, 0, 1, false), change(2, 2, Infinity)], 1],
    ['but not before it began', false, [change(1, 0, Infinity), change(null, -2, -1, true)], null],
  ]
  test.each(cases)('%s: %s', (_, expected, changes, end) => {
    expect(isLinearizable(changes, end)).toBe(expected)
  })
})
