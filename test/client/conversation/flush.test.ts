import { expect, test } from 'vitest'
import { flushMs } from '@inlay/client/internal/conversation/conversation'

test('a short answer is looked at often, a long one less often, and none more seldom than four times a second', () => {
  expect(flushMs(0)).toBe(80)
  expect(flushMs(500)).toBeLessThan(82)
  expect(flushMs(40_000)).toBeGreaterThan(150)
  expect(flushMs(10_000_000)).toBeLessThanOrEqual(250)
})
