import { globSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { circles } from './exceptions.ts'
import { findKnots } from './folder-graph.ts'

test.each(readdirSync('packages'))('folders of %s do not import each other in a circle', (name) => {
  const known = (folder: string): readonly string[] => circles[folder]?.nodes ?? []
  for (const { folder, nodes, arrows } of findKnots(name))
    expect(
      nodes.filter((node) => !known(folder).includes(node)),
      [`${folder} (see all: node test/package/folder-graph.ts ${name})`, ...arrows.keys()].join('\n  '),
    ).toEqual([])
})

test('every test is run by a project', () => {
  const run = new Set([...readdirSync('packages'), 'playground', 'package', 'life', 'mounts', 'browser'])
  const tests = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] })
  const isRun = (file: string): boolean =>
    /\.(?:full|scaled)\.test\.ts$/.test(file) || run.has(file.split(/[/\\]/)[1] ?? '')
  expect(tests.filter((file) => !isRun(file))).toEqual([])
})

/** Files that may wait for a time: they ask again until something is so, or spread work and kills at random. */
const mayWait = [
  /^test\/agent\/setting\.ts$/,
  /^test\/life\/(?:process|kills\/.*|history\/.*)\.ts$/,
  /^test\/life\/actions\/python\.full\.test\.ts$/,
  /^test\/knowledge\/history\.scaled\.test\.ts$/,
  /^test\/package\/(?:first-start|installation)\.ts$/,
  /^test\/drivers\/lancedb\/writer\.ts$/,
  /^test\/(?:bench|rigs)\//,
]

test('no test sleeps: it waits until something is so', () => {
  const sleeps = /new Promise\S* ?\(?\(?\w*\)? =>\s*\w*\(?setTimeout\(\w+, [^)]|timers\/promises/
  const files = globSync('test/**/*.ts', { exclude: ['**/node_modules/**'] }).filter(
    (file) => file !== 'test/package/layout.test.ts' && !mayWait.some((form) => form.test(file)),
  )
  expect(files.filter((file) => sleeps.test(readFileSync(file, 'utf8')))).toEqual([])
})
