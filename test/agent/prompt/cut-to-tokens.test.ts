import { expect, test } from 'vitest'
import { estimateTokens } from '@inlay/agent/internal/prompt/context-window'
import { cutToTokens } from '@inlay/agent/internal/prompt/context-window'

test('a text that fits stays as it is, also without any limit', () => {
  expect(cutToTokens('Everybody gets 25 days.', 20)).toBe('Everybody gets 25 days.')
  expect(cutToTokens('a'.repeat(100_000), Infinity)).toHaveLength(100_000)
})

test('a longer one is cut to what fits as JSON, and nearly fills it', () => {
  for (const text of ['word '.repeat(5_000), '図書館は'.repeat(5_000), '"\\\n'.repeat(5_000), '🦀'.repeat(5_000)])
    for (const limit of [1, 10, 333]) {
      const cut = cutToTokens(text, limit)
      const tokens = estimateTokens(JSON.stringify(cut))
      expect(tokens).toBeLessThanOrEqual(limit)
      expect(cut.isWellFormed() && text.startsWith(cut.replace(/\uFFFD$/, ''))).toBe(true)
      if (limit > 100) expect(tokens).toBeGreaterThan(limit * 0.8)
    }
})

test('no room leaves nothing', () => {
  expect([cutToTokens('word', 0), cutToTokens('word', -5), cutToTokens('', 5)]).toEqual(['', '', ''])
})
