import { describe, expect, test } from 'vitest'
import { relevantPart } from '@inlay/agent/internal/actions/relevant-part'

const filler = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `Paragraph ${at} tells of this and that, at some length, and of nothing else.`,
  ).join('\n\n')

test('a text that fits is taken whole', () => {
  expect(relevantPart('Short.', 'anything', 200)).toEqual({ text: 'Short.', start: 0, end: 6 })
})

test('of a long text the paragraphs around the words of the question are taken, as many as fit', () => {
  const text = `${filler(60)}\n\nHerons nest in April.\n\nThe nests stand in the reeds.\n\n${filler(60)}`
  const part = relevantPart(text, 'When do herons nest?', 600)
  expect(part.text).toContain('Herons nest in April.')
  expect(part.text).toContain('in the reeds')
  expect(part.text.length).toBeLessThanOrEqual(600)
  expect(part.text.length).toBeGreaterThan(400)
  expect(text.slice(part.start, part.end).trim()).toBe(part.text)
})

test('a rare word outweighs common ones', () => {
  const text = `${filler(40)}\n\nThe quorum is seven.\n\n${filler(40)}`
  expect(relevantPart(text, 'which paragraph tells of the quorum at some length', 300).text).toContain(
    'quorum is seven',
  )
})

test('without a matching word the beginning is taken', () => {
  const part = relevantPart(filler(50), 'zebra', 300)
  expect(part.start).toBe(0)
  expect(part.text.length).toBeGreaterThan(200)
})

describe('texts of any form', () => {
  test('scripts without spaces', () => {
    const text = `${'天気は晴れです。'.repeat(200)}\n\n図書館は九時に開きます。\n\n${'電車が走ります。'.repeat(200)}`
    expect(relevantPart(text, '図書館はいつ開きますか', 300).text).toContain('九時')
  })

  test('one paragraph without an end, and one without a space', () => {
    const prose = `${'Something is said here. '.repeat(200)}The herons nest in April. ${'More is said. '.repeat(200)}`
    const part = relevantPart(prose, 'herons', 1_000)
    expect(part.text).toContain('herons nest in April')
    expect(part.text.length).toBeLessThanOrEqual(1_000)
    expect(relevantPart('x'.repeat(5_000), 'y', 300).text).toBe('x'.repeat(300))
  })

  test('blank lines alone', () => {
    expect(relevantPart('\n \n'.repeat(1_000), 'y', 300).text).toBe('')
  })
})
