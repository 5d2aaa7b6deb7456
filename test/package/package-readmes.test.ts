import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** All but the main package, which is packed with the README of the repository. */
const parts = readdirSync('packages').filter((folder) => folder !== 'inlay')

test.each(parts)('the README of %s says in a few lines what it is, and shows an example', (folder) => {
  const { name } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')) as { name: string }
  const text = readFileSync(`packages/${folder}/README.md`, 'utf8')
  const [example, ...others] = [...text.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, code]) => code!)
  expect(others).toEqual([])
  expect(example).toMatch(folder === 'widget' ? /<inlay-chat/ : new RegExp(`from '${name}['/]`))
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '').split('\n')
  expect(prose[0]).toBe(`# ${name}`)
  expect(prose.slice(1).filter((line) => line !== '').length).toBeLessThanOrEqual(10)
})
