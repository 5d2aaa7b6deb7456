import { describe, expect, test } from 'vitest'
import { chunkSections } from '@inlay/knowledge/internal/chunking/chunk'
import { createHighlighter } from '@inlay/knowledge/internal/search/highlights'
import { toSearchQuery, toSearchText } from '@inlay/knowledge/internal/chunking/search-text'
import { cases } from '../cases.ts'
import { section } from './requests.ts'

const length = cases(200_000, 1_000_000)
const fill = (piece: string): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

/** Texts that a careless pattern would try at each place anew: minutes where it takes a second. */
const texts: Readonly<Record<string, string>> = {
  'one letter': fill('a'),
  'blanks before a letter': `${fill(' ')}x`,
  'line ends': fill('\r\n'),
  'number signs': fill('#'),
  'long headings': fill(`# ${' #'.repeat(990)}x\n`),
  'headings of blanks': fill(`# ${' '.repeat(1990)}x\n`),
  fences: fill('```\n'),
  'long fences': fill(`${'`'.repeat(1999)}\n`),
  bars: fill('|'),
  'what looks like the second row of a table': fill(`|a\n|${'-'.repeat(1990)}x\n`),
  dashes: fill('-'),
  'a word of many parts': fill('aB'),
  'letters and digits': fill('a1'),
  apostrophes: fill("x'"),
  'no spaces': fill('漢字'),
  marks: `a${fill('\u0301')}`,
  'joined emoji': fill('👩\u200d'),
  articles: fill('وال'),
  brackets: fill('<a'),
}

describe.each(Object.entries(texts))('a long text of %s', (_, text) => {
  test('is cut, searched for and marked in linear time', () => {
    let characters = 0
    for (const chunk of chunkSections([section(text)])) characters += chunk ? chunk.end - chunk.start : 0
    expect(characters).toBeLessThanOrEqual(text.length)
    expect(toSearchText({ title: '', text }).length).toBeGreaterThan(0)
    toSearchQuery(text)
    for (const piece of createHighlighter('a x 漢字 الكتاب')(text)) expect(piece.length).toBeLessThan(length)
  })
})
