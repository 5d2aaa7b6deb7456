import { execFile } from 'node:child_process'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** Messages of the linter for a source at a path of the repository. */
async function faultsOf(path: string, source: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-lint-'))
  try {
    copyFileSync('.oxlintrc.json', join(folder, '.oxlintrc.json'))
    // For plugins.
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), source)
    const linter = join(process.cwd(), 'node_modules/.bin/oxlint')
    return await new Promise((resolve) => {
      execFile(linter, [path], { cwd: folder }, (_error, stdout) => resolve(stdout))
    })
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

const violations = [
  ['a fetch', 'export const read = (url: string): Promise<Response> => fetch(url)\n'],
  ['a fetch of the global object', 'export const read = (url: string): Promise<Response> => globalThis.fetch(url)\n'],
  ['a fetch as a default', 'export const read = (url: string, get = fetch): Promise<Response> => get(url)\n'],
  ['a socket', 'export const open = (url: string): WebSocket => new WebSocket(url)\n'],
] as const

const places = [
  'packages/drivers/src/http/page-reader.ts',
  'packages/drivers/src/mcp/index.ts',
  'packages/drivers/src/images/openai-images.ts',
  'packages/agent/src/actions/open-url.ts',
  'packages/conversations/src/custom-tools/openapi-actions.ts',
  'packages/server/src/routes/chat/tools.ts',
  'packages/inlay/src/parts/web-parts.ts',
]

test.each(places)('the linter refuses what would go around the egress client in %s', async (place) => {
  for (const [name, source] of violations)
    expect(await faultsOf(place, source), name).toMatch(/no-restricted-(?:globals|properties)/)
})

test.each([
  "import { request } from 'node:http'\nexport const get = request\n",
  "import * as https from 'node:https'\nexport const get = https.get\n",
  "import { connect } from 'node:net'\nexport const open = connect\n",
  "import { fetch } from 'undici'\nexport const get = fetch\n",
])('drivers do not import a way to the network: %s', async (source) => {
  expect(await faultsOf('packages/drivers/src/http/page-reader.ts', source)).toContain('no-restricted-imports')
})

test('what a function is handed as `fetch`, and types of it, are no violation', async () => {
  const source = [
    "import type { IncomingMessage } from 'node:http'",
    'export const headersOf = (message: IncomingMessage): unknown => message.headers',
    'export const read = (fetch: (url: string) => Promise<string>, url: string): Promise<string> => fetch(url)',
    'export type Fetch = typeof globalThis.fetch',
    '',
  ].join('\n')
  expect(await faultsOf('packages/drivers/src/http/page-reader.ts', source)).not.toContain('no-restricted')
})

test('no source loads a way to the network on its way, which the linter does not see', () => {
  const loads = /import\(\s*['"](?:node:)?(?:https?|http2|net|tls|dgram|undici)['"]/
  const files = globSync('packages/*/src/**/*.ts').filter((file) => loads.test(readFileSync(file, 'utf8')))
  // Carries requests to models, whose addresses the operator configured.
  expect(files).toEqual(['packages/drivers/src/models/stream/http-transport.ts'])
})
