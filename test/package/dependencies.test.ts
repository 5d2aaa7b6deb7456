import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/4.inside/5.dependencies.md', 'utf8')
const isOurs = (name: string): boolean => name === 'inlay' || name.startsWith('@inlay/')

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const manifests = ['package.json', 'playground/package.json', ...globSync('packages/*/package.json')]
const used = new Set(
  manifests
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Manifest)
    .flatMap((m) => [m.dependencies, m.devDependencies, m.optionalDependencies, m.peerDependencies])
    .flatMap((list) => Object.keys(list ?? {}))
    .map((name) => name.replace(/^(@lancedb\/lancedb)-.*/, '$1-*'))
    .filter((name) => !isOurs(name) && !name.startsWith('@types/')),
)
const named = new Set(
  [...page.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  ),
)

test('every dependency says why it is there', () => {
  expect([...used].filter((name) => !named.has(name))).toEqual([])
})

test('nothing is explained that is not there', () => {
  expect([...named].filter((name) => !used.has(name) && name !== '@types/*')).toEqual([])
})

// Its declarations name clients of every storage there is, which a host with `skipLibCheck: false` does not have.
test('no declaration of ours depends on those of unstorage', () => {
  const importing = globSync('packages/*/src/**/*.ts').filter((file) =>
    /^(import|export)\b[^'"]*from 'unstorage/m.test(readFileSync(file, 'utf8')),
  )
  expect(importing).toEqual([])
})
