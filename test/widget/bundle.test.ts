import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterEach, expect, test, vi } from 'vitest'
import { widgetConfig } from '../../packages/widget/scripts/build.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('the element is one script of at most 39.6 kB, compressed', async () => {
  // The tests' own NODE_ENV would keep code that the published script does not have.
  vi.stubEnv('NODE_ENV', 'production')
  const built = await build({ ...widgetConfig, build: { ...widgetConfig.build, write: false } })
  const [output] = Array.isArray(built) ? built : [built]
  if (!output || !('output' in output)) throw new Error('vite watches instead of building')
  expect(output.output).toHaveLength(1)
  expect(gzipSync(output.output[0].code, { level: 9 }).length).toBeLessThan(39_600)
})
