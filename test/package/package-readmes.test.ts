import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Manifest {
  readonly name: string
  readonly private?: boolean
}
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8'))

/** All published packages but the main one, which is packed with the README of the repository. */
const parts = readdirSync('packages').filter((folder) => folder !== 'inlay' && manifestOf(folder).private !== true)

test.each(parts)('the README of %s says in a few lines what it is, and shows an example', (folder) => {
  const { name } = manifestOf(folder)
  const text = readFileSync(`packages/${folder}/README.md`, 'utf8')
  const [example, ...others] = [...text.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, code]) => code!)
  expect(others).toEqual([])
  expect(example).toMatch(folder === 'widget' ? /<inlay-chat/ : new RegExp(`from '${name}['/]`))
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '').split('\n')
  expect(prose[0]).toBe(`# ${name}`)
  expect(prose.slice(1).filter((line) => line !== '').length).toBeLessThanOrEqual(10)
})
