import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeSettings } from 'inlay/internal/settings/setting-table'
import { fillSettings, settingPages } from '../../packages/inlay/scripts/settings-docs.ts'

const readme = 'README.md'
const page = readFileSync(readme, 'utf8')

test.each(settingPages)('%s lists settings as the program reads them', (path) => {
  const text = readFileSync(path, 'utf8')
  expect(text, 'run `npm run docs:settings`').toBe(fillSettings(path, text))
  expect(text).toContain('| `INLAY_DATA` |')
})

test('the settings page lists every setting', () => {
  const text = readFileSync('docs/1.guide/8.settings.md', 'utf8')
  expect(describeSettings().filter(({ name }) => !text.includes(`| \`${name}\` |`))).toEqual([])
})

test('the README is at most 80 lines', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(81)
})

test.each([readme, 'CONTRIBUTING.md', ...globSync('docs/**/*.md')])('every link in %s leads to a file', (file) => {
  const text = readFileSync(file, 'utf8').replace(/```[^]*?```|`[^`\n]*`/g, '')
  const targets = [...text.matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)[^)]*\)/g)].map((results) => results[1]!)
  expect(targets.filter((target) => !existsSync(join(dirname(file), target)))).toEqual([])
})

test('the README and the guide show the same mounting example', () => {
  const first = (text: string): string | undefined => /```ts\n([^]*?)```/.exec(text)?.[1]
  expect(first(page)).toBe(first(readFileSync('docs/1.guide/2.mount.md', 'utf8')))
})
