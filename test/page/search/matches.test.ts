import { expect, test } from 'vitest'
import { matchOf } from '../../../packages/page/src/search/matches.ts'

test('a passage says which words of the query it has, in other forms too', () => {
  const { pieces, words, of } = matchOf('Citations are checked. A citing text.', 'How are citation checks made?')
  expect(words).toEqual(['are', 'citation', 'checks'])
  expect(of).toBe(5)
  expect(pieces).toEqual([
    { text: 'Citations', isMatch: true },
    { text: ' ', isMatch: false },
    { text: 'are', isMatch: true },
    { text: ' ', isMatch: false },
    { text: 'checked', isMatch: true },
    { text: '. A citing text.', isMatch: false },
  ])
})

test('short words match themselves alone', () => {
  expect(matchOf('An art of arts', 'art').pieces.filter(({ isMatch }) => isMatch)).toEqual([
    { text: 'art', isMatch: true },
  ])
})
