import fc from '../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createArgumentStream } from '@inlay/agent/internal/model/argument-stream'

const read = (pieces: readonly string[], names = ['code']): (Readonly<Record<string, string>> | undefined)[] => {
  const stream = createArgumentStream(names)
  return pieces.map((piece) => stream.push(piece))
}

test('a text argument is told as it is written', () => {
  expect(read(['{"code', '":"print(', '6*7)"', '}'])).toEqual([
    undefined,
    { code: 'print(' },
    { code: '6*7)' },
    undefined,
  ])
})

test('escapes are read, wherever they are split; halves of pairs wait for each other', () => {
  expect(read(['{"code": "a\\', 'n\\u00', 'e9\\ud83d', '\\ude00\\"\\\\"}'])).toEqual([
    { code: 'a' },
    { code: '\n' },
    { code: 'é' },
    { code: '😀"\\' },
  ])
})

test('other arguments, nested ones of the same name and lists are passed over', () => {
  const json =
    '{"why":"code","deep":{"code":"no"},"list":["code",{"code":"no"}],"n":1,"code":"yes","last":"\\"code\\":"}'
  expect(read([json])).toEqual([{ code: 'yes' }])
  expect(read([json], ['why', 'last'])).toEqual([{ why: 'code', last: '"code":' }])
})

test.each(['', 'null', '[]', '{', '"code"', '{"code":5}', '}}{"code"'])('%j tells nothing', (json) => {
  expect(read([json])).toEqual([undefined])
})

describe('whatever is written and however it is split', () => {
  test('the pieces told make the argument', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
        fc.string({ unit: 'binary' }),
        fc.array(fc.nat(40)),
        (others, code, cuts) => {
          const json = JSON.stringify({ ...others, code })
          const pieces: string[] = []
          let rest = json
          for (const cut of cuts) {
            pieces.push(rest.slice(0, cut))
            rest = rest.slice(cut)
          }
          const values = read([...pieces, rest]).map((deltas) => deltas?.['code'] ?? '')
          expect(values.join('')).toBe(code)
          for (const item of values) expect(item.isWellFormed() || !code.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})
