import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Runs in a separate process: notes every module that is loaded until the first health answer. */
const script = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  const { createInlay, nodeListener } = await import('inlay')
  const inlay = createInlay({ dataFolder: '/nowhere' })
  nodeListener(inlay.fetch)
  const { status } = await inlay.fetch(new Request('http://host.example/api/health'))
  console.log(JSON.stringify({ status, loaded }))
`

test('a host that mounts us and is asked for its health has loaded no engine', async () => {
  const words = ['--conditions=@inlay/source', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: import.meta.dirname })
  const { status, loaded } = JSON.parse(stdout) as { status: number; loaded: string[] }
  expect(status).toBe(200)
  const packages = new Set(
    loaded.map((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]).filter((name) => name !== undefined),
  )
  expect([...packages].sort()).toEqual(['h3', 'rou3', 'srvx', 'uuid', 'valibot'])
  const parts = loaded.flatMap((url) => /packages\/((?:agent|knowledge|drivers)\/.*)$/.exec(url)?.[1] ?? [])
  // `defineAction` and `aiSdkTools` are part of `inlay` itself: small files over the protocol, as are the names of providers.
  expect(parts.sort()).toEqual([
    'agent/src/tool-calls/action-faults.ts',
    'agent/src/tool-calls/action-result.ts',
    'agent/src/tool-calls/host-actions.ts',
    'drivers/src/installed.ts',
    'drivers/src/json-schema-input.ts',
    'drivers/src/models/ai-sdk-tools.ts',
    'drivers/src/models/model-object.ts',
    'drivers/src/models/official-providers.ts',
  ])
})
