import { parseBlocks } from '@inlay/widget/internal/markdown/blocks'
import { describe, expect, test } from 'vitest'

const paragraph = (text: string) => ({ kind: 'paragraph', text })

describe('the blocks of a text', () => {
  test.each([
    ['paragraphs', 'One\ngoes on.\n\nTwo.', [paragraph('One\ngoes on.'), paragraph('Two.')]],
    ['headings', '# Leave ##\ntext', [{ kind: 'heading', level: 1, text: 'Leave' }, paragraph('text')]],
    [
      'code',
      '```ts\nlet a\n\n# no heading\n```\nend',
      [{ kind: 'code', language: 'ts', text: 'let a\n\n# no heading' }, paragraph('end')],
    ],
    ['code that is still written', '~~~\nlet a', [{ kind: 'code', language: '', text: 'let a' }]],
    ['rules', 'a\n\n---\n\nb', [paragraph('a'), { kind: 'rule' }, paragraph('b')]],
    [
      'quotes',
      '> a\n> - b\n\nc',
      [
        { kind: 'quote', blocks: [paragraph('a'), { kind: 'list', start: undefined, items: [[paragraph('b')]] }] },
        paragraph('c'),
      ],
    ],
    [
      'a list after its introduction',
      'Steps:\n- a\n- b',
      [paragraph('Steps:'), { kind: 'list', start: undefined, items: [[paragraph('a')], [paragraph('b')]] }],
    ],
    [
      'numbers',
      '3. a\n\n4. b\n\nc',
      [{ kind: 'list', start: 3, items: [[paragraph('a')], [paragraph('b')]] }, paragraph('c')],
    ],
    [
      'lists in lists',
      '- a\n  - b\n    goes on\n- c',
      [
        {
          kind: 'list',
          start: undefined,
          items: [
            [paragraph('a'), { kind: 'list', start: undefined, items: [[paragraph('b\ngoes on')]] }],
            [paragraph('c')],
          ],
        },
      ],
    ],
    [
      'code in lists',
      '1. a\n   ```\n   b\n   ```\n2. c',
      [
        {
          kind: 'list',
          start: 1,
          items: [[paragraph('a'), { kind: 'code', language: '', text: 'b' }], [paragraph('c')]],
        },
      ],
    ],
    [
      'tables',
      '| a | b |\n|---|:-:|\n| 1 \\| 2 | 3 |\n| 4 |\nend',
      [
        {
          kind: 'table',
          header: ['a', 'b'],
          rows: [
            ['1 | 2', '3'],
            ['4', ''],
          ],
        },
        paragraph('end'),
      ],
    ],
    ['a year is no list', 'It began in\n1984. It ended.', [paragraph('It began in\n1984. It ended.')]],
    ['an empty text', ' \n', []],
  ])('%s', (_, text, blocks) => {
    expect(parseBlocks(text)).toEqual(blocks)
  })

  test('every beginning of a text has blocks, and none of its words is lost', () => {
    const text = '# A\n\n- b\n  1. c\n\n> d\n> | e | f |\n> |---|---|\n> | g | h |\n\n```x\ni\n```\n\n***j***\n'
    for (let end = 0; end <= text.length; end++) {
      const shown = JSON.stringify(parseBlocks(text.slice(0, end)))
      for (const letter of text.slice(0, end).match(/[a-wy-z]/gi) ?? []) expect(shown).toContain(letter)
    }
  })

  test('marks in marks without end take no longer than other text', () => {
    const texts = [
      '>'.repeat(50_000),
      '- '.repeat(50_000),
      `${'>\n'.repeat(20_000)}a`,
      '|'.repeat(50_000),
      '-|\n'.repeat(20_000),
    ]
    for (const text of texts) expect(() => parseBlocks(text)).not.toThrow()
  })
})
