import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const listed = readFileSync('CONTRIBUTING.md', 'utf8')
const benches = (['', '-w test/rigs '] as const).flatMap((workspace) => {
  const manifest = readFileSync(workspace === '' ? 'package.json' : 'test/rigs/package.json', 'utf8')
  const { scripts } = JSON.parse(manifest) as { readonly scripts: Readonly<Record<string, string>> }
  const names = Object.entries(scripts).filter(([name]) => name.startsWith('bench:'))
  return names.map(([name, script]) => [`npm run ${workspace}${name}`, script] as const)
})

test.each(benches)('%s has a quick run that tells figures, and is listed', (command, script) => {
  const source = readFileSync(/test\/(?:bench|rigs)\/\S+\.ts/.exec(script)![0], 'utf8')
  expect(source).toMatch(/quick/)
  expect(source).toMatch(/\b(?:note|noteFigure)\(/)
  expect(listed).toContain(command)
})

test('CI runs them', () => {
  expect(readFileSync('.ci/run', 'utf8')).toMatch(/for check in [^;]*\bbenches\b/)
})
