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

describe('code', () => {
  const lead = `${'To see which version of the tool there is, it takes no more than a moment. '.repeat(3)}Enter this line:`
  const code = '```console\n$ tool --version\n```'

  test('stays with the paragraph that leads to it', () => {
    const part = relevantPart(`${filler(40)}\n\n${lead}\n\n${code}\n\n${filler(40)}`, 'which version of the tool', 500)
    expect(part.text).toContain(`${lead}\n\n${code}`)
  })

  test('is not parted at its blank lines', () => {
    const line = 'reeds.grow({ month: "April", place: "the banks" })\n'
    const block = `\`\`\`js\nheron.nest()\n${line.repeat(5)}\n${line.repeat(5)}\`\`\``
    const part = relevantPart(`${filler(40)}\n\n${block}\n\n${filler(40)}`, 'heron nest', 650)
    expect(part.text).toContain(block)
  })
})

test('a part that has to hold something holds it with what follows, whatever the words say', () => {
  const core = 'The quorum is seven.'
  const text = `${filler(40)}\n\n${core}\n\n${filler(40)}\n\nHerons nest in April.`
  const start = text.indexOf(core)
  const part = relevantPart(text, 'When do herons nest?', 600, { start, end: start + core.length })
  expect(part.text).toContain(`${core}\n\nParagraph 0 tells`)
  expect(part.text).not.toContain('Herons')
  expect(part.text.length).toBeLessThanOrEqual(600)
})
