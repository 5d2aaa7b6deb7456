import { describe, expect, test } from 'vitest'
import { holdsAll, stem, stemsOf, wordsOf } from '@inlay/conversations/internal/sessions/search-words'

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

describe('a text holds all', () => {
  test('when each stands in it as a word', () => {
    expect(holdsAll('We agreed on leaving early.', stemsOf('leave early'))).toBe(true)
    expect(holdsAll('We party hard.', stemsOf('art'))).toBe(false)
    expect(holdsAll('Only one of both.', stemsOf('both neither'))).toBe(false)
  })

  test('within a run of letters where a script has no spaces', () => {
    expect(holdsAll('社員は年に二十五日の休暇を取れます', stemsOf('休暇'))).toBe(true)
  })
})
