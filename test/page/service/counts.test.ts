import { expect, test } from 'vitest'
import { countStates, isOnTheWay, totalOf } from '../../../packages/page/src/service/counts.ts'

const listed = [...Array<'indexed'>(998).fill('indexed'), 'failed', 'pending'] as const

test('a whole list is counted by itself', () => {
  const counts = countStates(listed)
  expect([totalOf(counts), counts.indexed, counts.failed, counts.indexing]).toEqual([1000, 998, 1, 0])
  expect([isOnTheWay(counts), isOnTheWay(countStates(['indexed', 'failed']))]).toEqual([true, false])
})
