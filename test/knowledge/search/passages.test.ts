import type { Hit } from '@inlay/knowledge'
import { describe, expect, test } from 'vitest'
import { encodeChunkMetadata, withChunk } from '@inlay/knowledge/internal/chunking/chunk-metadata'
import { chunkSections } from '@inlay/knowledge/internal/chunking/chunk'
import { joinHits, toBlurb, toPassage } from '@inlay/knowledge/internal/search/find-visible-passages'
import { section } from '../requests.ts'

const hit = (position: number, score: number, rest: Partial<Hit> & { link?: string } = {}): Hit => ({
  documentId: 'a',
  generation: 'g',
  position,
  text: `chunk ${position}`,
  chunkMetadata: encodeChunkMetadata({
    semanticIdentifier: 'Title',
    metadata: {},
    ...(rest.link ? { link: rest.link } : {}),
  }),
  source: 'file',
  updatedAt: 0,
  score,
  ...rest,
})

const shapes = (hits: Hit[]): [number, string, number | null][] =>
  joinHits(hits)
    .map((joined) => toPassage(joined))
    .map(({ document, content }) => [document.chunk_ind, content, document.score])

describe('chunks of a document', () => {
  test('that follow each other become one passage, named and scored by the best of them', () => {
    expect(shapes([hit(3, 0.9), hit(7, 0.8), hit(2, 0.7), hit(4, 0.6)])).toEqual([
      [3, 'chunk 2\n\nchunk 3\n\nchunk 4', 0.9],
      [7, 'chunk 7', 0.8],
    ])
  })

  test('that become one passage name the best of them', () => {
    const [joined, alone] = joinHits([hit(3, 0.9), hit(7, 0.8), hit(2, 0.7)]).map((hits) => toPassage(hits))
    expect([joined?.core, alone?.core]).toEqual(['chunk 3', undefined])
  })

  test('that one of them joins become one passage, also when it was found last', () => {
    expect(shapes([hit(1, 0.9), hit(3, 0.8), hit(2, 0.1)])).toEqual([[1, 'chunk 1\n\nchunk 2\n\nchunk 3', 0.9]])
    expect(shapes([hit(4, 0.9), hit(1, 0.8), hit(2, 0.7), hit(5, 0.6), hit(3, 0.5)])).toEqual([
      [4, 'chunk 4\n\nchunk 5', 0.9],
      [1, 'chunk 1\n\nchunk 2\n\nchunk 3', 0.8],
    ])
  })

  test('of different documents stay apart, and so do those of different links', () => {
    expect(shapes([hit(1, 0.9), hit(2, 0.8, { generation: 'h', documentId: 'b' })])).toHaveLength(2)
    expect(shapes([hit(1, 0.9, { link: 'https://one' }), hit(2, 0.8, { link: 'https://two' })])).toHaveLength(2)
  })

  test('never make a passage of more than four', () => {
    const passages = shapes(Array.from({ length: 9 }, (_, at) => hit(at, 1 - at / 10)))
    expect(passages.map(([, content]) => content.split('\n\n').length)).toEqual([4, 4, 1])
  })

  test.each<[string, string, number]>([
    ['paragraphs', Array.from({ length: 60 }, (_, at) => `Paragraph ${at} has words.`).join('\n\n'), 64],
    ['one long paragraph', Array.from({ length: 80 }, (_, at) => `Sentence ${at} has words.`).join(' '), 64],
    ['Japanese', 'これは長い文章です。切っても元に戻ります。'.repeat(30), 64],
    ['Thai', 'วันนี้อากาศดีมากเราจึงไปเดินเล่นในสวนสาธารณะใกล้บ้านกับเพื่อน'.repeat(12), 64],
    ['Arabic', 'هذه جملة طويلة جدا، وهي تقطع ثم تعاد كما كانت. '.repeat(20).trim(), 64],
    ['emoji', '👩‍👩‍👧🧑🏽‍🚀🏳️‍🌈'.repeat(60), 64],
    ['lines', Array.from({ length: 80 }, (_, at) => `line ${at} of a poem`).join('\n'), 64],
    ['code', `\`\`\`ts\n${Array.from({ length: 80 }, (_, at) => `  const value${at} = ${at}`).join('\n')}\n\`\`\``, 64],
    ['a table', `| a | b |\n|---|---|\n${Array.from({ length: 90 }, (_, at) => `| ${at} | cell |`).join('\n')}`, 64],
    ['a list under headings', `# One\n\n## Two\n\n${'- an item of some length\n'.repeat(60)}`.trim(), 64],
  ])('are the text they were cut from: %s', (_, text, maxTokens) => {
    const size = { maxTokens, targetTokens: maxTokens, minTokens: 16 }
    const sections = [section(text)]
    const rows = [...chunkSections(sections, { size })]
      .filter((chunk) => chunk !== undefined)
      .map((chunk) => ({
        text: chunk.text,
        chunkMetadata: encodeChunkMetadata(withChunk({ semanticIdentifier: 'Title', metadata: {} }, chunk)),
      }))
    expect(rows.length).toBeGreaterThan(4)
    for (let from = 0; from + 4 <= rows.length; from += 3) {
      const hits = rows.slice(from, from + 4).map((rest, at) => hit(from + at, 1, rest))
      const [[, content] = ['', '']] = shapes(hits)
      // A passage that begins or ends within a block has its frame, as each of its chunks has.
      const [first, last] = [rows[from]!.text, rows[from + 3]!.text]
      const inner = content.slice(first.split('\n')[0]!.length, -last.split('\n').at(-1)!.length || undefined)
      expect(content.startsWith(first.split('\n')[0]!)).toBe(true)
      expect(text).toContain(inner.trim().replace(/^\|---\|---\|\n/, ''))
    }
  })

  test('appear once each', () => {
    const hits = [5, 3, 4, 9, 8, 1].map((position, at) => hit(position, 1 - at / 10))
    const contents = shapes(hits).flatMap(([, content]) => content.split('\n\n'))
    expect(contents.toSorted()).toEqual(hits.map(({ text }) => text).toSorted())
  })
})

describe('a blurb', () => {
  test('is a short text as it is, on one line and without heading marks', () => {
    expect(toBlurb('# Title\n\nShort  text.')).toBe('Title Short text.')
    expect(toBlurb('Short \t text.\r\n\u00a0 The\tend. ')).toBe('Short text. The end.')
  })

  test('ends with a sentence, or else with a word', () => {
    expect(toBlurb('A sentence of some length. '.repeat(60))).toMatch(/^(A sentence of some length\. ?)+$/)
    expect(toBlurb('word '.repeat(500))).toMatch(/^(word )+word…$/)
    expect(toBlurb('これは文です。'.repeat(200))).toMatch(/。$/)
    expect(toBlurb('🦀'.repeat(500))).toMatch(/^🦀+…$/u)
    expect(toBlurb('👩‍👩‍👧'.repeat(200))).toMatch(/^(👩‍👩‍👧)+…$/u)
    expect(toBlurb('ห้องสมุด'.repeat(200))).toMatch(/^(ห้องสมุด|ห้อง|สมุด)+…$/u)
    expect(toBlurb('図書館'.repeat(300)).length).toBeGreaterThan(470)
  })
})
