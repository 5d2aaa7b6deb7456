import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('strict-host/host.ts', import.meta.url))

it.each(['workerd', 'edge-light'])('a build for %s stops at a sentence about where Inlay runs', async (condition) => {
  const building = build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, target: 'webworker', resolve: { conditions: [condition, 'worker', 'browser'] } },
    build: { write: false, ssr: program },
  })
  await expect(building).rejects.toThrow(/run it on Node, Bun or Deno, and import "inlay\/client" here/)
})
