import { expect, test } from 'vitest'
import { searched } from '../../../packages/page/src/admin/operation-choice.tsx'

const method = (name: string, path: string, tags?: unknown) => ({
  name,
  path,
  method: 'GET',
  summary: `Gives ${name}.`,
  spec: { tags },
})
const methods = [method('listDogs', '/dogs', ['dogs']), method('listCats', '/cats', ['cats']), method('old', '/x', 7)]

test.each([
  ['all without words', '  ', '', ['listDogs', 'listCats', 'old']],
  ['words of name, method, path and summary', 'get GIVES /DOGS', '', ['listDogs']],
  ['a tag', '', 'cats', ['listCats']],
  ['a tag and a word', 'dogs', 'cats', []],
])('functions are found by %s', (_, words, tag, names) => {
  expect(searched(methods, words, tag).map(({ name }) => name)).toEqual(names)
})
