import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wordsLeft } from './exceptions.ts'
import { readSources } from './sources.ts'
import { findInPage, findInSource, type Finding } from './words.ts'

const isOwnList = (file: string): boolean => file.startsWith('test/package/words')

const inSources = readSources()
  .filter(({ file }) => !isOwnList(file))
  .flatMap(findInSource)
const inPages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')].flatMap((file) =>
  findInPage(file, readFileSync(file, 'utf8')),
)
const findings = Map.groupBy(
  [...inSources, ...inPages],
  ({ file }) => /^(?:packages|playground|test)/.exec(file)?.[0] ?? 'docs',
)

test.each(['packages', 'playground', 'test', 'docs'])('%s say one standard term for one thing', (area) => {
  const byWord = Map.groupBy(findings.get(area) ?? [], ({ word }) => word)
  const more = [...byWord].filter(([word, { length }]) => length > (wordsLeft[area]?.[word] ?? 0))
  expect(more.flatMap(([, list]) => list.map(toLine))).toEqual([])
})

const toLine = ({ file, text, say }: Finding): string => `${file}: "${text.trim()}", say ${say}`
