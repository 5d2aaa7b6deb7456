import { expect, test } from 'vitest'
import { matchOf, chatQuery } from '../../../packages/page/src/search/matches.ts'

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

const markedIn = (text: string, query: string): readonly string[] =>
  matchOf(text, query)
    .pieces.filter(({ isMatch }) => isMatch)
    .map(({ text: piece }) => piece)

test('short words match themselves and their plural alone', () => {
  expect(markedIn('An art of arts and artists', 'art')).toEqual(['art', 'arts'])
  expect(markedIn('Cats and a cate', 'cats')).toEqual(['Cats'])
})

test('a word with an ending is marked, as the search finds it', () => {
  expect(markedIn('Three tests, tested by a testament', 'test')).toEqual(['tests', 'tested'])
})

test('words that say nothing are marked in chats only where nothing else is searched', () => {
  expect(markedIn('The zebra is in the stable', chatQuery('the zebra in it'))).toEqual(['zebra'])
  expect(markedIn('What it is', chatQuery('what is it'))).toEqual(['What', 'it', 'is'])
})

test('words of scripts without spaces are marked within their run', () => {
  expect(markedIn('彼は東京都に住む。東京', '東京')).toEqual(['東京', '東京'])
  expect(markedIn('彼は東京都に住む', '都')).toEqual(['都'])
})
