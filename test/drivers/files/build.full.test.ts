import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'tsdown'
import { afterAll, beforeAll, expect, test } from 'vitest'

// Inside node_modules, so that the built files find their libraries.
const folder = mkdtempSync(resolve('node_modules/.file-extraction-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

beforeAll(async () => {
  await build({
    config: false,
    cwd: 'packages/drivers',
    entry: ['src/files/index.ts', 'src/files/worker.ts'],
    root: 'src',
    tsconfig: '../../tsconfig.json',
    outDir: folder,
    platform: 'neutral',
    deps: { neverBundle: [/^node:/] },
    logLevel: 'silent',
  })
})

/** Reads a file in a separate process that does not close the reader, and tells what it printed. */
async function read(module: string, name: string, content: string): Promise<string> {
  const script = `
    import { fileExtractor } from ${JSON.stringify(pathToFileURL(module).href)}
    const { mediaType, sections } = await fileExtractor()({ name: ${JSON.stringify(name)}, bytes: Buffer.from(${JSON.stringify(content)}) })
    console.log(mediaType, sections[0].text)`
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--conditions=@inlay/source', '--input-type=module', '-e', script])
  return stdout.trim()
}

test.each([
  ['sources', () => resolve('packages/drivers/src/files/index.ts')],
  ['the build', () => join(folder, 'files/index.js')],
])('from %s, plain Node reads a file and ends by itself', async (_, module) => {
  expect(await read(module(), 'a.csv', 'a;b\n1;2\n')).toBe('text/csv | a | b |\n| --- | --- |\n| 1 | 2 |')
})
