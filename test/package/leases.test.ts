import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/4.inside/6.leases.md', 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'))

/** Durations of leases in the sources, in milliseconds, by file. */
const durations = globSync('packages/*/src/**/*.ts').flatMap((file) => {
  const stated = /^const (?:lease|hold)Ms = ([\d_ *]+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
  if (stated === undefined) return []
  const ms = stated
    .split('*')
    .map((factor) => Number(factor.replaceAll('_', '')))
    .reduce((product, factor) => product * factor)
  return [[file.replace('packages/', ''), ms] as const]
})

test('the page of leases names each fixed lease with its duration', () => {
  expect(durations.length).toBeGreaterThanOrEqual(5)
  for (const [file, ms] of durations) {
    const row = rows.find((line) => line.includes(`\`${file}\``))
    expect(row, file).toBeDefined()
    const stated = row!.split('|')[4]!.trim()
    expect([`${ms / 1000} s`, `${ms / 60_000} min`], file).toContain(stated)
  }
})

test('it names every table whose rows are leases', () => {
  const tables = globSync('packages/*/src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(inlay_\w+)[^;]{0,400}?(?:lease_until|seen_at) bigint/g)].map(
      ([text]) => [...text.matchAll(/inlay_\w+/g)].at(-1)![0],
    ),
  )
  expect(tables.length).toBeGreaterThan(3)
  for (const table of new Set(tables)) expect(page).toContain(`\`${table}`)
})
