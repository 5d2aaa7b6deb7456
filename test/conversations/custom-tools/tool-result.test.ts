import { estimateTokens } from '@inlay/agent'
import { toResultText } from '@inlay/conversations/internal/custom-tools/tool-result'
import { expect, test } from 'vitest'

const answer = (result: string) => ({ toolName: 'kennel', responseType: 'text', result })

test('a long answer is cut to the tokens that are left, but never to fewer than 200', () => {
  const long = answer('word '.repeat(5_000))
  for (const limit of [1_000, 200]) expect(estimateTokens(toResultText(long, limit))).toBeLessThanOrEqual(limit)
  for (const limit of [199, 1, 0]) expect(toResultText(long, limit)).toBe(toResultText(long, 200))
  expect(JSON.parse(toResultText(long, 0))).toMatchObject({ tool_result: expect.stringMatching(/^word word/) })
})

test('an answer that just fits is given whole, and one token less cuts it', () => {
  const given = answer('word '.repeat(500))
  const whole = toResultText(given)
  expect(toResultText(given, estimateTokens(whole))).toBe(whole)
  expect(JSON.parse(toResultText(given, estimateTokens(whole) - 1))).toMatchObject({
    note: expect.stringContaining('the rest was left out'),
  })
})
