import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// Its declarations name clients of every storage there is, which a host with `skipLibCheck: false` does not have.
test('no declaration of ours depends on those of unstorage', () => {
  const importing = globSync('packages/*/src/**/*.ts').filter((file) =>
    /^(import|export)\b[^'"]*from 'unstorage/m.test(readFileSync(file, 'utf8')),
  )
  expect(importing).toEqual([])
})
