import { describe, expect, test } from 'vitest'
import { highlight } from '../../../packages/page/src/markdown/highlight.ts'

const kindsOf = (code: string, language: string): string[] =>
  highlight(code, language)
    .filter(({ kind }) => kind !== null)
    .map(({ kind, text }) => `${kind}: ${text}`)

describe('colours of code', () => {
  test.each([
    ['ts', 'const a = f("x") // y', ['keyword: const', 'name: f', 'string: "x"', 'comment: // y']],
    [
      'python',
      'def f(a): # no\n  return 1.5',
      ['keyword: def', 'name: f', 'comment: # no', 'keyword: return', 'number: 1.5'],
    ],
    [
      'sql',
      "SELECT * FROM a WHERE b = 'it''s' -- c",
      ['keyword: SELECT', 'keyword: FROM', 'keyword: WHERE', "string: 'it''s'", 'comment: -- c'],
    ],
    ['json', '{"a": true, "b": -2}', ['string: "a"', 'keyword: true', 'string: "b"', 'number: 2']],
    ['diff', '-a\n+b\n c', ['removed: -a\n', 'added: +b\n']],
    ['text', 'const a = 1', []],
    ['ts', '"an open string\nconst', ['string: "an open string', 'keyword: const']],
  ])('%s: %s', (language, code, kinds) => {
    expect(kindsOf(code, language)).toEqual(kinds)
  })

  test('loses and adds nothing', () => {
    for (const language of ['ts', 'py', 'sh', 'sql', 'yaml', 'html', 'diff', 'nothing known'])
      for (const code of ['a"\'`/*#--<!--\n', '0x1F é_ü 日本 "\\', "'''x", '']) {
        expect(
          highlight(code, language)
            .map(({ text }) => text)
            .join(''),
        ).toBe(code)
      }
  })
})
