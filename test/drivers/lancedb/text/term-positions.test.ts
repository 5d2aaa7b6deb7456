import fc from '../../../fast-check.ts'
import { expect, it } from 'vitest'
import { termPositionsOf } from '@inlay/drivers/internal/lancedb/text/rescore'
import { wordsOf } from '@inlay/drivers/internal/lancedb/text/words-and-spelling'

it('finds whole words whatever their case', () => {
  const { of, length } = termPositionsOf('The heron, the Heron and herons: HERON!', new Set(['heron', 'and', 'otter']))
  expect([...of]).toEqual([
    ['heron', [1, 3, 6]],
    ['and', [4]],
  ])
  expect(length).toBe(7)
})

it('counts and positions words as splitting the text does, whatever the text', () => {
  const unit = fc.constantFrom(...'abAB01 _-.,\n\u0301éñßΛжن日本ก่🦀𝐀\ud800'.split(/(?:)/u))
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      const words = wordsOf(text)
      const { of, length } = termPositionsOf(text, new Set(words))
      expect(length).toBe(words.length)
      for (const word of words) expect(of.get(word)).toEqual(words.flatMap((other, at) => (other === word ? [at] : [])))
      expect(of.size).toBe(new Set(words).size)
    }),
    { numRuns: 1000 },
  )
})

it('tells long words apart, however long', () => {
  const [long, longer] = ['a'.repeat(70), 'a'.repeat(71)]
  const { of, length } = termPositionsOf(`${longer} ${long} ${'a'.repeat(63)}`, new Set([long]))
  expect([...of]).toEqual([[long, [1]]])
  expect(length).toBe(3)
})
