import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { afterAll, describe, test, vi } from 'vitest'
import { sampleRunner } from '../agent/conformance/sample-runner.ts'

const folder = mkdtempSync('test/drivers/.own-parts-')
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
// Examples leave the import of `test` to the reader.
vi.stubGlobal('test', test)

// The Python runner has tests of its own; these cover the code around it.
vi.mock('inlay/drivers', async (original) => ({
  ...(await original<object>()),
  pyodide: () => ({ ...sampleRunner, close: async () => {} }),
}))

const pages = globSync('docs/2.drivers/write-your-own/{[2-9],10}.*.md').toSorted()

// The code of each page is a test file: the parts it shows, run through their conformance tests.
for (const page of pages)
  describe(basename(page, '.md'), async () => {
    const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code]) => code)
    const file = join(folder, `${basename(page, '.md')}.ts`)
    writeFileSync(file, blocks.join('\n'))
    await import(resolve(file))
  })
