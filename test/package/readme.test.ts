import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { fillSettings, readme } from '../../packages/inlay/scripts/settings-docs.ts'

const page = readFileSync(readme, 'utf8')

test('the README lists every setting as the program reads it', () => {
  expect(page, 'run `npm run docs:settings`').toBe(fillSettings(page))
  expect(page).toContain('INLAY_DATA')
})

test('the README is at most 80 lines', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(81)
})

test.each([readme, 'CONTRIBUTING.md', ...globSync('docs/**/*.md')])('every link in %s leads to a file', (file) => {
  const text = readFileSync(file, 'utf8').replace(/```[^]*?```|`[^`\n]*`/g, '')
  const targets = [...text.matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)[^)]*\)/g)].map((found) => found[1]!)
  expect(targets.filter((target) => !existsSync(join(dirname(file), target)))).toEqual([])
})

test('the README and the guide show the same mounting example', () => {
  const first = (text: string): string | undefined => /```ts\n([^]*?)```/.exec(text)?.[1]
  expect(first(page)).toBe(first(readFileSync('docs/1.guide/2.mount.md', 'utf8')))
})
