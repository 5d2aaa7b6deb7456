import fc from 'fast-check'
import { expect, test } from 'vitest'
import { highlight } from '../../packages/knowledge/src/highlights.ts'

test('words of the query are marked, in other forms and cases too', () => {
  expect(highlight('Configured by the Policies of a team.', 'configure policy')).toEqual([
    '<hi>Configured</hi> by the <hi>Policies</hi> of a team.',
  ])
})

test('common words and words that merely begin alike are not marked', () => {
  expect(highlight('What is the string in str?', 'what is the')).toEqual([])
  expect(highlight('a str and a strip', 'string')).toEqual([])
})

test('at most four pieces come back, those with most of the query first', () => {
  const filler = ' filler'.repeat(40)
  const pieces = highlight(`one${filler} one two${filler} one${filler} two${filler} one${filler}`, 'one two')
  expect(pieces).toHaveLength(4)
  expect(pieces[0]).toContain('<hi>one</hi> <hi>two</hi>')
  for (const piece of pieces) expect(piece.replaceAll(/<\/?hi>/g, '').length).toBeLessThanOrEqual(110)
})

test('scripts without spaces are marked where they match', () => {
  expect(highlight('今日は天気がいい', '天気')).toEqual(['今日は<hi>天気</hi>がいい'])
})

test('whatever the text, pieces are parts of it and marks are balanced', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.string({ maxLength: 20 }), (text, query) => {
      const flat = text.replaceAll(/^ {0,3}#{1,6} /gm, '').replaceAll(/\s+/g, ' ')
      for (const piece of highlight(text, `${query} ${text.slice(0, 40)}`)) {
        expect(piece.split('<hi>').length).toBe(piece.split('</hi>').length)
        if (!text.includes('hi>') && !text.includes('#')) expect(flat).toContain(piece.replaceAll(/<\/?hi>/g, ''))
      }
    }),
  )
})
