import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const child = join(import.meta.dirname, 'module-graph-child.ts')

test.each([
  ['calls tools loads nothing of the help for others', true],
  ['calls none loads it', false],
])(
  'a turn of a model that %s',
  async (_, callsTools) => {
    const { stdout } = await run(process.execPath, ['--conditions=@inlay/source', child, String(callsTools)])
    const urls = JSON.parse(stdout) as string[]
    expect(urls.some((url) => url.endsWith('/turn/answer-message.ts'))).toBe(true)
    expect(urls.some((url) => url.includes('/packages/small-models/'))).toBe(!callsTools)
    for (const compared of [
      '/citations/compared-citations.ts',
      '/citations/checked-marks.ts',
      '/text/src/comparison.ts',
    ])
      expect(urls.some((url) => url.endsWith(compared))).toBe(!callsTools)
  },
  60_000,
)
