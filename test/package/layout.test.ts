import { globSync, readdirSync, readFileSync } from 'node:fs'
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

test('every test is run by a project', () => {
  const run = new Set([...readdirSync('packages'), 'playground', 'package', 'life', 'mounts', 'browser'])
  const tests = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] })
  const isRun = (file: string): boolean =>
    /\.(?:full|scaled)\.test\.ts$/.test(file) || run.has(file.split(/[/\\]/)[1] ?? '')
  expect(tests.filter((file) => !isRun(file))).toEqual([])
})

test('no test case is longer than 60 lines', () => {
  const long = readSources('test/**/*.test.ts').flatMap(({ file, cases }) =>
    cases.filter(({ lines }) => lines > 60 && longCases[file] === undefined).map(({ line }) => `${file}:${line}`),
  )
  expect(long).toEqual([])
})

/** Files that may wait for a time: they ask again until something is so, or spread work and kills at random. */
const mayWait = [
  /^test\/(?:agent|conversations\/files)\/setting\.ts$/,
  /^test\/life\/(?:process|kills\/.*|history\/.*)\.ts$/,
  /^test\/life\/actions\/python\.full\.test\.ts$/,
  /^test\/knowledge\/history\.scaled\.test\.ts$/,
  /^test\/package\/(?:first-start|installation)\.ts$/,
  /^test\/drivers\/lancedb\/writer\.ts$/,
  /^test\/(?:bench|scale)\//,
]

test('no test sleeps: it waits until something is so', () => {
  const sleeps = /new Promise\S* ?\(?\(?\w*\)? =>\s*\w*\(?setTimeout\(\w+, [^)]|timers\/promises/
  const files = globSync('test/**/*.ts', { exclude: ['**/node_modules/**'] }).filter(
    (file) => file !== 'test/package/layout.test.ts' && !mayWait.some((form) => form.test(file)),
  )
  expect(files.filter((file) => sleeps.test(readFileSync(file, 'utf8')))).toEqual([])
})
