import type { Section } from '@inlay/protocol'
import fc from '../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import { chunkSections, defaultChunkSize, type Chunk } from '@inlay/knowledge/internal/chunking/chunk'
import type { ChunkSize } from '@inlay/knowledge/internal/chunking/chunk'
import { estimateTokens } from '@inlay/knowledge/internal/chunking/blocks'

const section = (text: string, rest: Partial<Section> = {}): Section =>
  ({ type: 'text', text, link: null, image_file_id: null, heading: null, ...rest }) as Section

const cut = (...call: Parameters<typeof chunkSections>): Chunk[] =>
  [...chunkSections(...call)].filter((chunk) => chunk !== undefined)

const chunksOf = (text: string, size?: ChunkSize): Chunk[] => cut([section(text)], { size })

const small: ChunkSize = { maxTokens: 64, targetTokens: 48, minTokens: 12 }

/** Pieces of Markdown, plain text and other scripts, joined at random. */
const pieces = fc.oneof(
  fc.constantFrom('# Title', '## Part', '###### Deep', '#', 'Under\n=====', 'Under\n---', '', '   ', '\t'),
  fc.constantFrom('```ts\nconst one = 1\n\n# not a heading\n```', '~~~\nopen for ever', '    indented code', '```'),
  fc.constantFrom('| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |', '- one\n- two\n  - three', '> said'),
  fc.constantFrom(
    '日本語の文章です。とても長い文章が続きます。',
    'ภาษาไทยไม่มีช่องว่างระหว่างคำ',
    'مرحبا بالعالم.',
    '👩‍👩‍👧‍👦e\u0301x',
  ),
  fc.lorem({ maxCount: 60, mode: 'sentences' }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.nat(400).map((length) => 'x'.repeat(length)),
  fc
    .array(fc.constant('| cell | another cell | third |'), { maxLength: 40 })
    .map((rows) => `| a | b | c |\n|--|--|--|\n${rows.join('\n')}`),
  fc
    .array(fc.constantFrom('let a = 1', '', '  nested()'), { maxLength: 60 })
    .map((lines) => `\`\`\`js\n${lines.join('\n')}\n\`\`\``),
)
const markdown = fc
  .array(fc.tuple(pieces, fc.constantFrom('\n', '\n\n', '\r\n', '\n \n')), { maxLength: 14 })
  .map((parts) => parts.flat().join(''))

describe('whatever the text', () => {
  test('no chunk is blank or larger than the limit', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        for (const chunk of chunksOf(text, small)) {
          expect(chunk.text.trim()).not.toBe('')
          expect(estimateTokens(chunk.text)).toBeLessThanOrEqual(small.maxTokens)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('chunks follow each other and together hold all that is not blank', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        let from = 0
        for (const [position, chunk] of chunksOf(text, small).entries()) {
          expect(chunk.position).toBe(position)
          expect(chunk.start).toBeGreaterThanOrEqual(from)
          expect(text.slice(from, chunk.start).trim()).toBe('')
          expect(chunk.text).toContain(text.slice(chunk.start, chunk.end).trim())
          from = chunk.end
        }
        expect(text.slice(from).trim()).toBe('')
      }),
      { numRuns: 300 },
    )
  })

  test('no character is cut in half', () => {
    const wide = fc.array(fc.constantFrom('👩‍👩‍👧‍👦', 'e\u0301', '🇩🇪', '字', 'नि', '👍🏽'), { minLength: 50, maxLength: 200 })
    fc.assert(
      fc.property(wide, (characters) => {
        const text = characters.join('')
        const graphemes = new Set([...new Intl.Segmenter().segment(text)].map(({ index }) => index))
        for (const { start } of chunksOf(text, small)) expect(graphemes).toContain(start)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a chunk', () => {
  test('never spans two sections', () => {
    const chunks = cut([section('one', { link: 'l1' }), section('  '), section('two', { link: 'l2' })])
    expect(chunks.map(({ text, link, section: number }) => [text, link, number])).toEqual([
      ['one', 'l1', 0],
      ['two', 'l2', 2],
    ])
  })

  test('carries the image of its section, and images without text make none', () => {
    const image: Section = { type: 'image', image_file_id: 'picture', link: null, heading: null }
    const [chunk, ...others] = cut([image, section('text', { image_file_id: 'photo' })])
    expect(chunk).toMatchObject({ text: 'text', imageFileId: 'photo' })
    expect(others).toEqual([])
  })

  test('names the headings it stands under, outermost first', () => {
    const body = 'word '.repeat(80)
    const text = `# One\n\n${body}\n\n## Two\n\n${body}\n\n### Three\n\n${body}\n\n## Four\n\n${body}`
    expect(chunksOf(text, { ...small, maxTokens: 128, targetTokens: 100 }).map(({ headings }) => headings)).toEqual([
      ['One'],
      ['One', 'Two'],
      ['One', 'Two', 'Three'],
      ['One', 'Four'],
    ])
  })

  test('stands under the heading its section brings', () => {
    const [chunk] = cut([section('# Inner\ntext', { heading: ' Outer ' })])
    expect(chunk?.headings).toEqual(['Outer', 'Inner'])
  })

  test('keeps the indentation of its first line', () => {
    expect(chunksOf('\n\n    indented\n    more')[0]?.text).toBe('    indented\n    more')
  })
})

describe('structure', () => {
  const filler = 'word '.repeat(40).trim()

  test('a heading goes with what follows it', () => {
    const chunks = chunksOf(`${filler}\n\n## Next\n\n${filler}`, { ...small, minTokens: 1000 })
    expect(chunks.map(({ text }) => text)).toEqual([filler, `## Next\n\n${filler}`])
  })

  test('a heading starts a chunk where the one before has reached its smallest size, and joins it below', () => {
    const before = 'word '.repeat(20).trim()
    const count = (minTokens: number): number => chunksOf(`${before}\n\n## Next\n\nend`, { ...small, minTokens }).length
    const tokens = estimateTokens(before)
    expect([count(tokens - 1), count(tokens), count(tokens + 1)]).toEqual([2, 2, 1])
  })

  test('a chunk takes another block below its target size, and up to its largest size', () => {
    const [first, second] = ['word '.repeat(50).trim(), 'word '.repeat(20).trim()]
    const count = (size: Partial<ChunkSize>): number =>
      chunksOf(`${first}\n\n${second}`, { maxTokens: 1000, targetTokens: 1000, minTokens: 1, ...size }).length
    const tokens = estimateTokens(first)
    expect([tokens, tokens + 1].map((targetTokens) => count({ targetTokens }))).toEqual([2, 1])
    const both = tokens + estimateTokens('\n\n') + estimateTokens(second)
    expect([both - 1, both].map((maxTokens) => count({ maxTokens }))).toEqual([2, 1])
  })

  test('a heading above a line that fits only without it takes the beginning of that line along', () => {
    const line = 'x'.repeat(small.maxTokens * 4)
    const chunks = chunksOf(`# Title\n${line}`, small)
    expect(chunks[0]?.text).toMatch(/^# Title\nx+$/)
    for (const { text } of chunks) expect(estimateTokens(text)).toBeLessThanOrEqual(small.maxTokens)
  })

  test('small parts under several headings share a chunk', () => {
    expect(chunksOf('# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree')).toHaveLength(1)
  })

  test('a code block that fits is not cut', () => {
    const code = `\`\`\`js\n${'call()\n\n'.repeat(10)}\`\`\``
    const chunks = chunksOf(`${filler}\n\n${code}\n\n${filler}`, small)
    expect(chunks.map(({ text }) => text)).toContain(code)
  })

  test('a code block that does not fit is cut between lines, each part fenced', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `statement${at}()`)
    const chunks = chunksOf(`\`\`\`js\n${lines.join('\n')}\n\`\`\``, small)
    expect(chunks.length).toBeGreaterThan(1)
    for (const { text } of chunks) expect(text).toMatch(/^```js\n(statement\d+\(\)\n)+```$/)
    const kept = chunks.flatMap(({ text }) => text.match(/statement\d+\(\)/g)!)
    expect(kept).toEqual(lines)
  })

  test('a table that does not fit is cut between rows, each part under the header', () => {
    const rows = Array.from({ length: 40 }, (_, at) => `| row ${at} | value ${at} |`)
    const chunks = chunksOf(`| name | value |\n|---|---|\n${rows.join('\n')}`, small)
    expect(chunks.length).toBeGreaterThan(1)
    for (const { text } of chunks)
      expect(text).toMatch(/^\| name \| value \|\n\|---\|---\|\n(\| row \d+ \| value \d+ \|(\n|$))+$/)
    expect(chunks.flatMap(({ text }) => text.match(/\| row .*/g)!)).toEqual(rows)
  })

  test('a heading inside a code block is code', () => {
    const [chunk] = chunksOf('```\n# comment\n```\n\ntext')
    expect(chunk?.headings).toEqual([])
  })

  test('long paragraphs are cut between sentences', () => {
    const sentence = 'This sentence has seven words in all. '
    for (const { text } of chunksOf(sentence.repeat(60), small)) expect(text).toMatch(/^This .* all\.$/)
  })

  test('scripts without spaces are cut between sentences too', () => {
    for (const { text } of chunksOf('今日はとても良い天気ですね。'.repeat(40), small))
      expect(text).toMatch(/^今日.*。$/)
  })
})

test('a megabyte without a single space is cut in reasonable time', () => {
  const chunks = chunksOf('x'.repeat(2 ** 20))
  expect(chunks.length).toBeGreaterThanOrEqual(2 ** 20 / 4 / defaultChunkSize.maxTokens)
  expect(chunks.map(({ text }) => text).join('')).toHaveLength(2 ** 20)
})
