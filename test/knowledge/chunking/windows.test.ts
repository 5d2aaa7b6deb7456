import { describe, expect, test } from 'vitest'
import { addText, openText, type TextWindow } from '@inlay/knowledge/internal/chunking/blocks'
import { chunkSections, type Chunk } from '@inlay/knowledge/internal/chunking/chunk'
import { section } from '../requests.ts'

interface Reading {
  readonly chunks: readonly Chunk[]
  /** Most that was in memory. */
  readonly held: number
}

/** Chunks of a text that comes in pieces of so many characters. */
function readInPieces(text: string, size: number): Reading {
  const window: TextWindow = openText('', false)
  const chunks: Chunk[] = []
  let [at, held] = [0, 0]
  for (const chunk of chunkSections([section('')], { openSection: () => window })) {
    if (chunk) chunks.push(chunk)
    else if (window.isWanted) {
      addText(window, text.slice(at, at + size), at + size >= text.length)
      at += size
      held = Math.max(held, window.held.length)
    }
  }
  return { chunks, held }
}

function readWhole(text: string): readonly Chunk[] {
  return [...chunkSections([section(text)])].filter((chunk) => chunk !== undefined)
}

const fill = (piece: string, length = 330_000): string => piece.repeat(Math.ceil(length / piece.length))

/** Blocks of every kind, in an order that does not repeat. */
function mixed(): string {
  const blocks = [
    '# One\n\n',
    '## Two of them\n',
    'A sentence. Another one, of some words! '.repeat(9) + '\n\n',
    '- a list\n- of lines\n- that ends\n\n',
    '```ts\nconst a = 1\n\nconst b = 2\n```\n\n',
    `| a | b |\n|---|---|\n${'| some cell | another |\n'.repeat(40)}\n`,
    'Title below\n===\n\n',
    `${'漢字仮名交じり文。'.repeat(60)}\r\n\r\n`,
    '\n\n \n',
    `${'x'.repeat(3000)}\n`,
  ]
  let [text, state] = ['', 7]
  while (text.length < 330_000) {
    state = (state * 48_271) % 2_147_483_647
    text += blocks[state % blocks.length]
  }
  return text
}

const texts: Readonly<Record<string, string>> = {
  'blocks of every kind': mixed(),
  'one line': fill('['),
  'one line of words': fill('some words '),
  'one line without spaces': fill('漢字仮名交じり文。'),
  'one code block': `before\n\n~~~js\n${fill('let a = 1\n')}~~~\n\nafter`,
  'one table': `| a | b |\n|---|---|\n${fill('| some cell | another |\n')}\nafter`,
  'one paragraph': fill('a line of a paragraph\n'),
  headings: fill('# a\n'),
  'a line whose rest looks like markup': `${'x'.repeat(65_536)}# no heading\n\n${'y'.repeat(65_536)}\`\`\`\n\n${fill('text\n\n')}`,
}

describe.each(Object.entries(texts))('a text of %s', (_, text) => {
  const whole = readWhole(text)
  test.each([100_000])('that comes in pieces of %d characters gives the chunks of the whole', (size) => {
    const { chunks, held } = readInPieces(text, size)
    expect(chunks).toEqual(whole)
    expect(held).toBeLessThan(650_000)
  })
})

test('nothing of a very long line, code block or table is lost', () => {
  for (const [name, kept] of [
    ['one line', /\[/g],
    ['one line without spaces', /漢/g],
    ['one code block', /let a/g],
    ['one table', /some cell/g],
  ] as const) {
    const chunks = readWhole(texts[name]!)
    const count = chunks.reduce((sum, { text }) => sum + (text.match(kept)?.length ?? 0), 0)
    expect([name, count]).toEqual([name, texts[name]!.match(kept)!.length])
  }
})

test('each part of a very long code block is code, and of a table has its header', () => {
  const code = readWhole(texts['one code block']!).slice(1, -1)
  expect(code.every(({ text }) => text.startsWith('~~~js\n') && text.endsWith('\n~~~'))).toBe(true)
  const table = readWhole(texts['one table']!).slice(0, -1)
  expect(table.every(({ text }) => text.startsWith('| a | b |\n|---|---|\n'))).toBe(true)
})

test.each(['\n', ' ', '\r\n'])('a desert of %j does not stay in memory', (blank) => {
  const { chunks, held } = readInPieces(`before\n\n${fill(blank, 2_000_000)}\n\nafter`, 262_144)
  expect(chunks.map(({ text }) => text.trim())).toEqual(['before', 'after'])
  expect(held).toBeLessThan(650_000)
})
