import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pyodide } from '@inlay/python'
import { afterAll, describe, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'inlay-python-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

describe('what cannot run', () => {
  test('without the package, or with another version of it, the message says what to install', () => {
    expect(() => pyodide({ packageFolder: join(folder, 'none') })).toThrow(/install pyodide@314/)
    const other = join(folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'package.json'), '{"version":"313.1.2"}')
    expect(() => pyodide({ packageFolder: other })).toThrow(/313 is installed/)
  })

  test('limits out of range and folders that are not there are refused', () => {
    expect(() => pyodide({ maxMemoryBytes: 1000 })).toThrow(/maxMemoryBytes/)
    expect(() => pyodide({ wheelsFolder: join(folder, 'none') })).toThrow(/wheels/)
  })

  test('a process that does not start makes the run fail, and the next one is tried anew', async () => {
    const broken = pyodide({ node: join(folder, 'no-node') })
    for (let time = 0; time < 2; time++)
      await expect(broken.run({ code: '1' })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await broken.close()
  })
})
