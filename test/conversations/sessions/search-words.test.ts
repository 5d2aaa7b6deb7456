import { describe, expect, test } from 'vitest'
import { stem, stemsOf, termsOf, termsOfStem, wordsOf } from '@inlay/conversations/internal/sessions/search-words'

test.each([
  [['policy', 'policies'], 'polic'],
  [['holiday', 'holidays'], 'holida'],
  [['leave', 'leaves', 'leaving'], 'leav'],
  [['stop', 'stopped', 'stopping'], 'stop'],
  [['process', 'processes', 'processing'], 'process'],
])('%j are one word', (words, expected) => {
  expect(words.map(stem)).toEqual(words.map(() => expected))
})

test.each(['bus', 'gas', 'red', 'über', '2026', 'kühe', 'basis', 'das'])('%s is left as it is', (word) => {
  expect(stem(word)).toBe(word)
})

test('a stem is the beginning of its word', () => {
  for (const word of wordsOf('Agreed policies, running buses; fizzed buzzing classes dying flies goes seeing')) {
    expect(word.startsWith(stem(word))).toBe(true)
  }
})

test('a query is its telling words; of idle words alone, those', () => {
  expect(stemsOf('How is the Leave-Policy for 2026?')).toEqual(['leav', 'polic', '2026'])
  expect(stemsOf('to be or not to be')).toEqual(['to', 'be', 'or', 'not'])
  expect(stemsOf(' ?! ')).toEqual([])
})

/** Whether search finds a text by a query. */
function finds(text: string, query: string): boolean {
  const terms = termsOf(text)
  return stemsOf(query).every((part) => termsOfStem(part).every((term) => terms.has(term)))
}

describe('a text is found', () => {
  test('when each word stands in it as a word', () => {
    expect(finds('We agreed on leaving early.', 'leave early')).toBe(true)
    expect(finds('We party hard.', 'art')).toBe(false)
    expect(finds('Only one of both.', 'both neither')).toBe(false)
  })

  test('within a run of letters where a script has no spaces', () => {
    expect(finds('社員は年に二十五日の休暇を取れます', '休暇')).toBe(true)
    expect(finds('社員は年に二十五日の休暇を取れます', '年')).toBe(true)
    expect(finds('社員は年に二十五日の休暇を取れます', '暇休')).toBe(false)
  })

  test('by a word of any length', () => {
    expect(finds('x'.repeat(5_000), 'x'.repeat(5_000))).toBe(true)
  })
})
