import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Entry {
  readonly link?: boolean
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> }
const entries = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
const without = entries.filter(([, { integrity }]) => integrity === undefined)

test('everything that is installed on the platform of the checks has a checksum', () => {
  const isForHere = ({ os = ['linux'], cpu = ['x64'] }: Entry): boolean => os.includes('linux') && cpu.includes('x64')
  const musl = /-musl$/
  expect(without.filter(([path, entry]) => isForHere(entry) && !musl.test(path)).map(([path]) => path)).toEqual([])
})

test('without a checksum are only builds for other platforms, which the registry of the lockfile does not have', () => {
  const known = /^node_modules\/(@lancedb\/lancedb|@oxfmt\/binding|@oxlint\/binding)-/
  expect(without.filter(([path, { optional }]) => !optional || !known.test(path))).toEqual([])
  // Fewer is better: lower it when a registry that has them filled some in.
  expect(without.length).toBeLessThanOrEqual(39)
})
