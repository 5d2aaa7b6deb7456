import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url))

/** The client as a page loads it, minified. */
async function bundle(): Promise<{ code: string; modules: string[] }> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['@inlay/source', 'module', 'browser', 'import', 'default'] },
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      lib: { entry: source, formats: ['es'], fileName: 'client' },
    },
  })
  const [output] = Array.isArray(built) ? built : [built]
  if (!output || !('output' in output)) throw new Error('vite watches instead of building')
  const [chunk] = output.output
  return { code: chunk.code, modules: Object.keys(chunk.modules) }
}

describe('the client in a page', () => {
  let built: { code: string; modules: string[] }
  beforeAll(async () => {
    built = await bundle()
  })

  it('takes less than 26 kB, compressed, with the protocol', () => {
    expect(gzipSync(built.code, { level: 9 }).length).toBeLessThan(26_000)
  })

  it('brings nothing but the client, the protocol and valibot', () => {
    const foreign = built.modules.filter(
      (file) => !/packages\/(client|protocol)\/src\/|node_modules\/valibot\//.test(file),
    )
    expect(foreign.filter((file) => !file.startsWith('\0'))).toEqual([])
    expect(built.code).not.toMatch(/from ?["']|require\(|process\.|Buffer\b/)
  })
})
