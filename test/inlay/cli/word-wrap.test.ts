import { styleText } from 'node:util'
import { expect, test, vi } from 'vitest'
import { clipped, createWordWrap, widthOf, wrapped } from 'inlay/internal/cli/word-wrap'
import { seededRandom } from '../../life/random.ts'

const bold = (text: string): string => styleText('bold', text, { validateStream: false })

test.each([
  ['words', 'Staff receive 28 days of leave', ['Staff receive 28', 'days of leave']],
  ['lines that fit', 'Staff receive 28\n\n  days of', ['Staff receive 28', '', '  days of']],
  ['a list', '- one two three four\n12. five six seven', ['- one two three', '  four', '12. five six', '    seven']],
  [
    'a quotation',
    '> one two three four\n>\n> - five six seven',
    ['> one two three', '> four', '>', '> - five six', '>   seven'],
  ],
  ['indented text', '   one two three four', ['   one two three', '   four']],
  ['a URL, which stays whole', 'see https://example.com/long now', ['see', 'https://example.com/long', 'now']],
  [
    'letters that are not wide after a URL',
    'https://example.com/long日本語日本語日',
    ['https://example.com/long', '日本語日本語日'],
  ],
  ['wide letters', '职员每年享有二十八天，必须休完', ['职员每年享有二十', '八天，必须休完']],
  ['wide letters before punctuation', '职员每年享有二十，八天', ['职员每年享有二', '十，八天']],
])('%s', (_, text, lines) => {
  expect(wrapped(text, 16).split('\n')).toEqual(lines)
  const wrap = createWordWrap(() => 16)
  const pieces = [...text].map((letter) => wrap.push(letter)).join('') + wrap.end()
  expect(pieces.split('\n'), 'letter by letter').toEqual(lines)
})

test('wide letters are shown as they arrive, but the last, before which a line may not break', () => {
  const wrap = createWordWrap(() => 16)
  expect(['职员', '每年', '。'].map((piece) => wrap.push(piece))).toEqual(['职', '员每', ''])
  expect(wrap.end()).toBe('年。')
})

test('a word wider than a line is shown as it arrives, whatever its length', () => {
  const wrap = createWordWrap(() => 16)
  expect(wrap.push('see https://example.com')).toBe('see\nhttps://example.co')
  expect(wrap.push('/а')).toBe('m/')
  expect(wrap.push(' now')).toBe('а')
  expect(wrap.end()).toBe('\nnow')
  const scanned = vi.spyOn(Intl.Segmenter.prototype, 'segment')
  for (let at = 0; at < 1000; at++) wrap.push('абвг')
  const lengths = scanned.mock.calls.map(([text]) => text.length)
  scanned.mockRestore()
  expect(Math.max(...lengths)).toBeLessThan(100)
})

test('lines break in the same places however the text is cut', () => {
  const random = seededRandom(7)
  const below = (count: number): number => Math.floor(random() * count)
  const parts = [
    ...'ab/1é日本語。，」ー   ',
    '  ',
    '\n',
    '- ',
    'https://example.com/a/b',
    'éééééééééé',
    '❤️',
    '1️⃣',
    '👩‍👩‍👧',
    'e\u0301',
  ]
  for (let run = 0; run < 400; run++) {
    const picked = Array.from({ length: 1 + below(30) }, () => parts[below(parts.length)]!)
    const text = picked.map((part) => (below(8) === 0 ? bold(part) : part)).join('')
    const columns = 8 + below(24)
    const whole = createWordWrap(() => columns)
    const cut = createWordWrap(() => columns)
    const lines = whole.push(text) + whole.end()
    // oxlint-disable-next-line no-control-regex -- styles begin with this character, and are never cut
    const atoms = text.match(/\u001b\[\d+m|./gsu)!
    let pieces = ''
    while (atoms.length > 0) pieces += cut.push(atoms.splice(0, 1 + below(6)).join(''))
    pieces += cut.end()
    expect(pieces.split('\n'), JSON.stringify({ text, columns })).toEqual(lines.split('\n'))
  }
})

test('further lines of a column stand in it', () => {
  expect(wrapped('/new  start a new conversation\n  0  Bib  Knows all books', 20).split('\n')).toEqual([
    '/new  start a new',
    '      conversation',
    '  0  Bib  Knows all',
    '     books',
  ])
})

test('styles take no room and are never cut', () => {
  expect(wrapped(`${bold('Staff receive')} 28 days`, 16)).toBe(`${bold('Staff receive')} 28\ndays`)
  expect(wrapped(bold('日本語日本語'), 8)).toBe(bold('日本語日\n本語'))
})

test('after a change of the width only later text is wrapped anew', () => {
  let columns = 10
  const wrap = createWordWrap(() => columns)
  const before = wrap.push('one two three ')
  columns = 20
  expect(before + wrap.push('four five six seven ') + wrap.end()).toBe('one two\nthree four five six\nseven')
})

test('the width is that on a terminal', () => {
  expect(['abc', '日本', '👩‍👩‍👧', 'e\u0301', bold('ab'), '❤️'].map(widthOf)).toEqual([3, 4, 2, 1, 2, 2])
  expect(clipped('Haftpflicht日本', 6)).toEqual(['Haftpf', 'licht', '日本'])
})
