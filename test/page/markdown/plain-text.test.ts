import { expect, test } from 'vitest'
import { withoutMarkup } from '../../../packages/page/src/markdown/plain-text.ts'

test('Markdown is written as text: headings, lists, tables, links and emphasis', () => {
  const markdown =
    '## Leave\n\n- Staff get **25 days**\n  a year ([more](https://a.example)).\n- `Never` more.\n\n| who | days |\n|---|---|\n| all | 25 |'
  expect(withoutMarkup(markdown)).toBe(
    'Leave\n\n• Staff get 25 days a year (more).\n• Never more.\n\n· who · days\n· all · 25',
  )
})

test('lines of a paragraph are joined, lines of code are not', () => {
  expect(withoutMarkup('one\ntwo\n\n```sh\nls\n  cd `x` # y\n```\n\nthree')).toBe(
    'one two\n\nls\n  cd `x` # y\n\nthree',
  )
})

test('a passage that begins inside code stays readable', () => {
  expect(withoutMarkup('cd x\n```\nprose')).toContain('prose')
})

test('an excerpt in one line keeps its code', () => {
  expect(withoutMarkup('```sh npx inlay search "parental leave" ```')).toBe('npx inlay search "parental leave"')
  expect(withoutMarkup('```ts title="a b"\nlet `x`\n```')).toBe('let `x`')
})
