import fc from '../../fast-check.ts'
import { describe, expect, it } from 'vitest'
import { stripCitations } from '@inlay/protocol'

describe('an answer without citations', () => {
  it.each([
    ['Twelve nights [[1]](https://a.example).', 'Twelve nights.'],
    ['Twelve nights[[1]](https://a.example) [[2]](https://b.example) a year', 'Twelve nights a year'],
    ['Twelve\n\n [[12]]() nights', 'Twelve nights'],
    ['[[1]](u) a', ' a'],
    ['a [[1]](https://a.example/x_(y)_(z(1))) b', 'a b'],
    ['a [[1]](https://a.example/\\)x) b', 'a b'],
    ['a [[1]](https://a.example and [[2]](v) b', 'a [[1]](https://a.example and [[2]](v) b'],
    ['a [[1]](u) b [[2]](open c', 'a b [[2]](open c'],
    ['plain [1], [[x]](u) and [[1]] stay', 'plain [1], [[x]](u) and [[1]] stay'],
    ['', ''],
  ])('of %o is %o', (answer, plain) => {
    expect(stripCitations(answer)).toBe(plain)
  })

  it('keeps all text around links', () => {
    const word = fc.stringMatching(/^[a-z0-9.,]{1,8}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        const cited = words.map((each, at) => `${each} [[${at + 1}]](https://x.example/(${at}))`).join(' ')
        expect(stripCitations(cited)).toBe(words.join(' '))
      }),
    )
  })

  it('is found in one sweep over long runs of spaces and brackets', () => {
    const long = `${' '.repeat(200_000)}x${'[['.repeat(100_000)}`
    expect(stripCitations(long)).toBe(long)
  })
})
