import { parseInline, safeLink } from '@inlay/widget/internal/markdown/inline'
import { describe, expect, test } from 'vitest'

const text = (value: string) => ({ kind: 'text', text: value })
const link = (href: string | undefined, label: string) => ({ kind: 'link', href, children: [text(label)] })

describe('the pieces of a paragraph', () => {
  test.each([
    [
      'emphasis',
      'a **b** *c* __d__ ~~e~~',
      [
        text('a '),
        { kind: 'strong', children: [text('b')] },
        text(' '),
        { kind: 'em', children: [text('c')] },
        text(' '),
        { kind: 'strong', children: [text('d')] },
        text(' '),
        { kind: 'del', children: [text('e')] },
      ],
    ],
    ['emphasis in emphasis', '***a***', [{ kind: 'strong', children: [{ kind: 'em', children: [text('a')] }] }]],
    ['marks that are none', '2 * 3 * 4, snake_case_name, ** a', [text('2 * 3 * 4, snake_case_name, ** a')]],
    [
      'code',
      'a `**b**` ``c`d``',
      [text('a '), { kind: 'code', text: '**b**' }, text(' '), { kind: 'code', text: 'c`d' }],
    ],
    ['escapes', '\\*a\\* \\d', [text('*a* \\d')]],
    ['marks of formulas', '\\(a\\,b\\)', [text('\\(a\\,b\\)')]],
    ['breaks', 'a  \nb\\\nc\nd', [text('a  '), { kind: 'break' }, text('b'), { kind: 'break' }, text('c\nd')]],
    [
      'links',
      '[a *b*](https://x.example/(y) "t")',
      [{ kind: 'link', href: 'https://x.example/(y)', children: [text('a '), { kind: 'em', children: [text('b')] }] }],
    ],
    [
      'addresses',
      'See https://x.example/a_b_c. <https://y.example>',
      [
        text('See '),
        link('https://x.example/a_b_c', 'https://x.example/a_b_c'),
        text('. '),
        link('https://y.example/', 'https://y.example'),
      ],
    ],
    ['pictures become links', '![a](https://x.example/p.png)', [link('https://x.example/p.png', 'a')]],
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
    ['HTML is text', '<img src=x onerror="alert(1)">', [text('<img src=x onerror="alert(1)">')]],
    ['what is still written', 'a **b [c](https://x', [text('a **b [c]('), link('https://x/', 'https://x')]],
  ])('%s', (_, given, pieces) => {
    expect(parseInline(given)).toEqual(pieces)
  })

  test.each(['*', '**', '_', '`', '[', '[[1]](', '![', '<', '~~', '*a', '`a', 'https://', '\\'])(
    'a flood of %s takes time in proportion to its length',
    (mark) => {
      const flood = mark.repeat(20_000)
      const shown = JSON.stringify(parseInline(flood))
      expect(shown.length).toBeGreaterThan(0)
    },
  )
})

test.each([
  ['https://x.example/a', 'https://x.example/a'],
  ['mailto:a@x.example', 'mailto:a@x.example'],
  ['javascript:alert(1)', undefined],
  [' JaVa\nScript:alert(1)', undefined],
  ['\u0001javascript:alert(1)', undefined],
  ['data:text/html,<script>', undefined],
  ['vbscript:x', undefined],
  ['blob:https://x.example/1', undefined],
  ['file:///etc/passwd', undefined],
  ['//x.example', undefined],
  ['/relative', undefined],
])('of the address %j, %j may be opened', (address, href) => {
  expect(safeLink(address)).toBe(href)
})
