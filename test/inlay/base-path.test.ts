import { basePathOf } from 'inlay/internal/base-path'
import { expect, test } from 'vitest'

test.each([
  [undefined, '/api'],
  ['', ''],
  ['/', ''],
  ['a//b/', '/a/b'],
  ['//assistant//', '/assistant'],
])('the base path %j is printed as it is served: %j', (basePath, printed) => {
  expect(basePathOf(basePath === undefined ? {} : { basePath })).toBe(printed)
})
