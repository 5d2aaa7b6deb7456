import { createMarkdownReader, readMarkdown, safeLink, type Block, type Inline } from '@inlay/text/markdown'
import { describe, expect, test } from 'vitest'
import { cases } from '../../cases.ts'
import fc from '../../fast-check.ts'

const text = (value: string): Inline => ({ kind: 'text', text: value })
const paragraph = (...inlines: (Inline | string)[]): Block => ({
  kind: 'paragraph',
  inlines: inlines.map((inline) => (typeof inline === 'string' ? text(inline) : inline)),
})
const item = (...blocks: Block[]) => ({ isChecked: null, blocks })
const link = (href: string | undefined, ...inlines: Inline[]): Inline => ({ kind: 'link', href, inlines })

describe('the blocks of a text', () => {
  test.each<[string, string, Block[]]>([
    ['paragraphs', 'One\ngoes on.\n\nTwo.', [paragraph('One\ngoes on.'), paragraph('Two.')]],
    ['headings', '# Leave ##\ntext', [{ kind: 'heading', level: 1, inlines: [text('Leave')] }, paragraph('text')]],
    ['underlined headings', 'Leave\n=====', [{ kind: 'heading', level: 1, inlines: [text('Leave')] }]],
    [
      'code',
      '```ts\nlet a\n\n# no heading\n```\nend',
      [{ kind: 'code', language: 'ts', text: 'let a\n\n# no heading' }, paragraph('end')],
    ],
    ['code that is still written', '~~~\nlet a', [{ kind: 'code', language: '', text: 'let a' }]],
    [
      'indented code',
      'a\n\n    b\n\n    c\n\nd',
      [paragraph('a'), { kind: 'code', language: '', text: 'b\n\nc' }, paragraph('d')],
    ],
    ['rules', 'a\n\n---\n\nb', [paragraph('a'), { kind: 'rule' }, paragraph('b')]],
    [
      'formulas',
      'a\n$$\nx^2\n$$\nb\n\\[ y \\]',
      [paragraph('a'), { kind: 'math', text: 'x^2' }, paragraph('b'), { kind: 'math', text: 'y' }],
    ],
    ['a formula without an end', '$$ x\n\nb', [paragraph('$$ x'), paragraph('b')]],
    ['alerts', '> [!WARNING]\n> Hot', [{ kind: 'alert', alert: 'warning', blocks: [paragraph('Hot')] }]],
    ['an alert of no kind', '> [!WHAT]\n> x', [{ kind: 'quote', blocks: [paragraph('[!WHAT]\nx')] }]],
    [
      'details',
      '<details>\n<summary>More **here**</summary>\n\nA\n\n<details open><summary>In</summary>B</details>\n</details>\nC',
      [
        {
          kind: 'details',
          summary: [text('More '), { kind: 'strong', inlines: [text('here')] }],
          isOpen: false,
          blocks: [paragraph('A'), { kind: 'details', summary: [text('In')], isOpen: true, blocks: [paragraph('B')] }],
        },
        paragraph('C'),
      ],
    ],
    [
      'a list after its introduction',
      'Steps:\n- a\n- b',
      [
        paragraph('Steps:'),
        { kind: 'list', start: undefined, isTight: true, items: [item(paragraph('a')), item(paragraph('b'))] },
      ],
    ],
    [
      'numbers',
      '3. a\n\n4. b\n\nc',
      [{ kind: 'list', start: 3, isTight: false, items: [item(paragraph('a')), item(paragraph('b'))] }, paragraph('c')],
    ],
    [
      'tasks',
      '- [x] a\n- [ ] b\n- [y] c',
      [
        {
          kind: 'list',
          start: undefined,
          isTight: true,
          items: [
            { isChecked: true, blocks: [paragraph('a')] },
            { isChecked: false, blocks: [paragraph('b')] },
            item(paragraph('[y] c')),
          ],
        },
      ],
    ],
    [
      'lists in lists',
      '- a\n  - b\n    goes on\n- c',
      [
        {
          kind: 'list',
          start: undefined,
          isTight: true,
          items: [
            item(paragraph('a'), {
              kind: 'list',
              start: undefined,
              isTight: true,
              items: [item(paragraph('b\ngoes on'))],
            }),
            item(paragraph('c')),
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
          isTight: true,
          items: [item(paragraph('a'), { kind: 'code', language: '', text: 'b' }), item(paragraph('c'))],
        },
      ],
    ],
    [
      'tables',
      '| a | b | c |\n|---|:-:|--:|\n| 1 \\| 2 | 3 |\n| 4 |\nend',
      [
        {
          kind: 'table',
          alignments: [null, 'center', 'right'],
          header: [[text('a')], [text('b')], [text('c')]],
          rows: [
            [[text('1 | 2')], [text('3')], []],
            [[text('4')], [], []],
          ],
        },
        paragraph('end'),
      ],
    ],
    ['a year is no list', 'It began in\n1984. It ended.', [paragraph('It began in\n1984. It ended.')]],
    ['HTML is text', '<div onclick=x>\n<details ontoggle=x>', [paragraph('<div onclick=x>\n<details ontoggle=x>')]],
    ['an empty text', ' \n', []],
  ])('%s', (_, markdown, blocks) => {
    expect(readMarkdown(markdown).blocks).toEqual(blocks)
  })

  test('footnotes stand apart, in the order of their definitions', () => {
    const { blocks, footnotes } = readMarkdown('A[^b] and[^a].\n\n[^b]: First.\n  Goes on.\n[^a]: Second.\n\nEnd')
    expect(blocks).toHaveLength(2)
    expect(blocks[0]).toEqual(
      paragraph('A', { kind: 'footnote', label: 'b' }, ' and', { kind: 'footnote', label: 'a' }, '.'),
    )
    expect(footnotes).toEqual([
      { label: 'b', number: 1, blocks: [paragraph('First.\nGoes on.')] },
      { label: 'a', number: 2, blocks: [paragraph('Second.')] },
    ])
  })
})

describe('the pieces of a paragraph', () => {
  test.each<[string, string, Inline[]]>([
    [
      'emphasis',
      'a **b** *c* __d__ ~~e~~',
      [
        text('a '),
        { kind: 'strong', inlines: [text('b')] },
        text(' '),
        { kind: 'em', inlines: [text('c')] },
        text(' '),
        { kind: 'strong', inlines: [text('d')] },
        text(' '),
        { kind: 'del', inlines: [text('e')] },
      ],
    ],
    ['emphasis in emphasis', '***a***', [{ kind: 'em', inlines: [{ kind: 'strong', inlines: [text('a')] }] }]],
    [
      'emphasis across emphasis',
      '**a *b* c**',
      [{ kind: 'strong', inlines: [text('a '), { kind: 'em', inlines: [text('b')] }, text(' c')] }],
    ],
    [
      'bold between letters of Chinese',
      '请**注意。**谢谢',
      [text('请'), { kind: 'strong', inlines: [text('注意。')] }, text('谢谢')],
    ],
    ['marks that are none', '2 * 3 * 4, snake_case_name, ** a', [text('2 * 3 * 4, snake_case_name, ** a')]],
    [
      'code',
      'a `**b**` ``c`d``',
      [text('a '), { kind: 'code', text: '**b**' }, text(' '), { kind: 'code', text: 'c`d' }],
    ],
    ['escapes', '\\*a\\* \\d', [text('*a* \\d')]],
    [
      'formulas',
      '\\(a\\,b\\) $x^2$ \\, \\)',
      [{ kind: 'math', text: 'a\\,b' }, text(' '), { kind: 'math', text: 'x^2' }, text(' \\, \\)')],
    ],
    ['prices', 'It costs $5 and $10 or US$3', [text('It costs $5 and $10 or US$3')]],
    ['breaks', 'a\\\nb<br>c\nd', [text('a'), { kind: 'break' }, text('b'), { kind: 'break' }, text('c\nd')]],
    [
      'small elements',
      'H<sub>2</sub>O <kbd>Esc</kbd>',
      [text('H'), { kind: 'sub', inlines: [text('2')] }, text('O '), { kind: 'kbd', inlines: [text('Esc')] }],
    ],
    [
      'links',
      '[a *b*](https://x.example/(y) "t")',
      [link('https://x.example/(y)', text('a '), { kind: 'em', inlines: [text('b')] })],
    ],
    [
      'addresses',
      'See https://x.example/a_b_c. <https://y.example>',
      [
        text('See '),
        link('https://x.example/a_b_c', text('https://x.example/a_b_c')),
        text('. '),
        link('https://y.example/', text('https://y.example')),
      ],
    ],
    ['pictures', '![a](https://x.example/p.png)', [{ kind: 'image', href: 'https://x.example/p.png', text: 'a' }]],
    [
      'citations',
      'Yes [[1]](https://x.example) [[12]]().',
      [
        text('Yes '),
        { kind: 'citation', number: 1, href: 'https://x.example/' },
        text(' '),
        { kind: 'citation', number: 12, href: undefined },
        text('.'),
      ],
    ],
    [
      'HTML is text',
      '<img src=x onerror="alert(1)"><b onclick=x>',
      [text('<img src=x onerror="alert(1)"><b onclick=x>')],
    ],
    ['character references, once', 'a &amp; b &#8364; &amp;lt;', [text('a & b € &lt;')]],
    ['what is no link', '[a] (b) [c](', [text('[a] (b) [c](')]],
  ])('%s', (_, markdown, inlines) => {
    expect(readMarkdown(markdown).blocks).toEqual([{ kind: 'paragraph', inlines }])
  })

  test('a link whose address stands elsewhere is one', () => {
    expect(readMarkdown('See [the *map*][Map] or [map].\n\n[map]: https://x.example/m "t"').blocks).toEqual([
      paragraph(
        'See ',
        link('https://x.example/m', text('the '), { kind: 'em', inlines: [text('map')] }),
        ' or ',
        link('https://x.example/m', text('map')),
        '.',
      ),
    ])
  })
})

describe('a text that grows', () => {
  test('bold text without its end is bold as far as it goes', () => {
    const { read } = createMarkdownReader()
    expect(read('a **bo', true).blocks).toEqual([paragraph('a ', { kind: 'strong', inlines: [text('bo')] })])
    expect(read('a **bo', false).blocks).toEqual([paragraph('a **bo')])
  })

  test('blocks that are finished stay the same objects', () => {
    const { read } = createMarkdownReader()
    const first = read('# A\n\nOne.\n\n- a\n- b\n\nTwo', true).blocks
    const second = read('# A\n\nOne.\n\n- a\n- b\n\nTwo goes on.\n\nThree', true).blocks
    expect(second.slice(0, 3).every((block, at) => block === first[at])).toBe(true)
    expect(second[3]).toEqual(paragraph('Two goes on.'))
  })

  test('items of a list that is still written stay the same objects', () => {
    const { read } = createMarkdownReader()
    const itemsOf = (markdown: string) => (read(markdown, true).blocks[0] as Extract<Block, { kind: 'list' }>).items
    const first = itemsOf('- a\n- b\n- c')
    expect(itemsOf('- a\n- b\n- c goes on\n- d')[0]).toBe(first[0])
  })

  const markdown = fc.array(
    fc.constantFrom(
      'a',
      ' ',
      '\n',
      '\n\n',
      '# ',
      '- ',
      '1. ',
      '  ',
      '    ',
      '> ',
      '```',
      '```\n',
      '| a | b |\n',
      '|--|--|\n',
      '**',
      '*',
      '`',
      '[a](b)',
      '[a]',
      '[a]: https://x.example\n',
      '[^1]',
      '[^1]: n\n',
      '$$',
      '\\[',
      '---\n',
      '\r\n',
      '<details>',
      '<summary>s</summary>',
      '</details>\n',
      '[!NOTE]\n',
      '- [ ] ',
      '===\n',
    ),
    { maxLength: 40 },
  )

  test('reads the same in parts as at once', () => {
    fc.assert(
      fc.property(markdown, (parts) => {
        const { read } = createMarkdownReader()
        let whole = ''
        for (const part of parts) {
          whole += part
          expect(read(whole, true)).toEqual(createMarkdownReader().read(whole, true))
        }
        expect(read(whole, false)).toEqual(readMarkdown(whole))
      }),
      { numRuns: cases(300, 5_000) },
    )
  })
})

describe('hostile texts', () => {
  test.each([
    ['javascript:alert(1)', undefined],
    ['java\nscript:alert(1)', undefined],
    ['\u{1}javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['//evil.example/x', undefined],
    ['/page/key', undefined],
    ['https://a.example/x', 'https://a.example/x'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
  ])('a link to %j leads to %j', (address, href) => {
    expect(safeLink(address)).toBe(href)
  })

  test.each([
    ['opening brackets', '['],
    ['brackets and parentheses', '[a]('],
    ['stars', '*a '],
    ['marks of emphasis', '*_~'],
    ['marks of code', '`a '],
    ['quotes', '> '],
    ['dollars', '$a'],
    ['items', '- '],
    ['details', '<details>\n'],
    ['tags', '<sub>'],
    ['bars', '|'],
    ['formulas', '\\('],
  ])('many %s take time in proportion to their number', (_, part) => {
    const cost = (count: number): number => {
      const markdown = part.repeat(count)
      const begun = process.cpuUsage()
      readMarkdown(markdown)
      const { user, system } = process.cpuUsage(begun)
      return (user + system) / 1000
    }
    cost(1_000)
    // Twenty times as many would take four hundred times as long if each looked at all the others.
    expect(cost(20_000)).toBeLessThan(20 * 12 * Math.max(1, cost(1_000)) + 500)
  })
})
