import { readFileSync } from 'node:fs'
import { rerankerConformance, vectorIndexConformance } from '@inlay/conformance'
import { expect, test } from 'vitest'

const pages = 'docs/2.drivers/write-your-own'
// Titles are read; no case runs.
const nothing = (): never => undefined as never

test.each([
  ['3.indexes.md', vectorIndexConformance(nothing)],
  ['2.embedders-and-rerankers.md', rerankerConformance(nothing)],
] as const)('%s names every case of its suite', (page, suite) => {
  const text = readFileSync(`${pages}/${page}`, 'utf8')
  expect(suite.map(([title]) => title).filter((title) => !text.includes(title))).toEqual([])
})
