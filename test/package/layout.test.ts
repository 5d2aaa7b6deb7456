import { globSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { circles, crowded, longCases } from './exceptions.ts'
import { findKnots } from './folder-graph.ts'
import { readSources } from './sources.ts'

test.each(readdirSync('packages'))('folders of %s do not import each other in a circle', (name) => {
  const known = (folder: string): readonly string[] => circles[folder]?.nodes ?? []
  for (const { folder, nodes, arrows } of findKnots(name))
    expect(
      nodes.filter((node) => !known(folder).includes(node)),
      [`${folder} (see all: node test/package/folder-graph.ts ${name})`, ...arrows.keys()].join('\n  '),
    ).toEqual([])
})

test('no folder holds more than 20 files', () => {
  const files = globSync('{packages,playground,test,docs}/**/*.*', { exclude: ['**/node_modules/**', '**/dist/**'] })
  const counts = Map.groupBy(files, dirname)
  const full = [...counts].filter(([folder, { length }]) => length > (crowded[folder]?.files ?? 20))
  expect(full.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([])
})

test('no test case is longer than 60 lines', () => {
  const long = readSources('test/**/*.test.ts').flatMap(({ file, cases }) =>
    cases.filter(({ lines }) => lines > 60 && longCases[file] === undefined).map(({ line }) => `${file}:${line}`),
  )
  expect(long).toEqual([])
})
