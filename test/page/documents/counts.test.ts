import { expect, test } from 'vitest'
import { countDocuments, fullCount, shortCount } from '../../../packages/page/src/documents/counts.ts'

const listed = [...Array<'indexed'>(998).fill('indexed'), 'failed', 'pending'] as const

test('a whole list is counted by itself', () => {
  const { total, byState } = countDocuments(listed, false, null)
  expect([total, byState.indexed, byState.failed, byState.indexing].map(fullCount)).toEqual(['1,000', '998', '1', '0'])
})

test('of a list that goes on, the counts of the service bind for every state', () => {
  const { total, byState } = countDocuments(listed, true, { indexed: 12_300, indexing: 3, pending: 40, failed: 7 })
  expect([total, byState.indexed, byState.pending, byState.failed].map(fullCount)).toEqual([
    '12,350',
    '12,300',
    '40',
    '7',
  ])
  expect(shortCount(total)).toBe('12.4K')
})

test('without them every count is the least there are', () => {
  const { total, byState } = countDocuments(listed, true, null)
  expect([total, byState.indexed, byState.indexing].map(fullCount)).toEqual(['1,000+', '998+', '0+'])
  expect(shortCount(total)).toBe('1K+')
})
