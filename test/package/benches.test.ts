import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const benches = Object.entries(scripts).filter(([name]) => name.startsWith('bench:'))

test.each(benches)('%s has a quick run that tells figures, and is listed', (name, script) => {
  const file = /test\/bench\/\S+\.ts/.exec(script)![0]
  const source = readFileSync(file, 'utf8')
  expect(source).toMatch(/quick/)
  expect(source).toMatch(/\b(?:note|noteFigure)\(/)
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`npm run ${name}`)
})

test('CI runs them', () => {
  expect(readFileSync('.ci/run', 'utf8')).toMatch(/for check in [^;]*\bbenches\b/)
})
