import { describe, expect, it } from 'vitest'
import { termPositionsOf, rescore, rescoredRows } from '@inlay/drivers/internal/lancedb/text/rescore'

const ranked = (...texts: string[]): { text: string; score: number }[] =>
  texts.map((text, at) => ({ text, score: 10 - at / 100 }))
const look = (rows: readonly { text: string }[], words: string[]): ReturnType<typeof termPositionsOf>[] =>
  rows.slice(0, rescoredRows).map(({ text }) => termPositionsOf(text, new Set(words)))
const anew = (
  rows: { text: string; score: number }[],
  words: string[],
): ReturnType<typeof rescore<(typeof rows)[number]>> => rescore(rows, look(rows, words), words)
const order = (texts: string[], words: string[]): string[] => anew(ranked(...texts), words).map(({ row }) => row.text)

describe('a second look at the first rows', () => {
  it('puts words in the very form they were asked in first', () => {
    expect(order(['the runs of a dog', 'the running of a dog', 'a cat'], ['running', 'dog'])[0]).toBe(
      'the running of a dog',
    )
  })

  it('puts words that stand together first', () => {
    const texts = [
      'a borrow here and, far away at the end of it all, a checker',
      'the borrow checker and a few more words to be as long as the other',
    ]
    expect(order(texts, ['borrow', 'checker'])[0]).toBe(texts[1])
  })

  it('minds the order of words', () => {
    expect(order(['checker borrow', 'borrow checker'], ['borrow', 'checker'])[0]).toBe('borrow checker')
  })

  it('does not overturn a clear lead', () => {
    const rows = [
      { text: 'nothing of the kind', score: 10 },
      { text: 'heron heron heron', score: 2 },
    ]
    expect(anew(rows, ['heron']).map(({ row }) => row.text)).toEqual(rows.map(({ text }) => text))
  })

  it('gives scores from 1 down, and keeps the order of rows that are alike', () => {
    const rescored = anew(ranked('a heron', 'a heron', 'a heron'), ['heron'])
    expect(rescored[0]?.score).toBe(1)
    for (const [at, { score }] of rescored.entries())
      expect(score <= (rescored[at - 1]?.score ?? 1) && score >= 0).toBe(true)
    expect(rescored.map(({ row }) => row.score)).toEqual([10, 9.99, 9.98])
  })

  it('leaves those behind the first behind', () => {
    const texts = [...Array.from({ length: rescoredRows }, (_, n) => `row ${n}`), 'the heron itself']
    const rescored = order(texts, ['heron'])
    expect(rescored).toHaveLength(texts.length)
    expect(rescored.at(-1)).toBe('the heron itself')
  })

  it('takes nothing and rows without any word', () => {
    expect(anew([], ['heron'])).toEqual([])
    expect(order(['one', 'two'], [])).toEqual(['one', 'two'])
    expect(order(['', ''], ['heron'])).toEqual(['', ''])
  })
})
