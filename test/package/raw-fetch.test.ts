import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

const violations = [
  ['a fetch', 'export const read = (url: string): Promise<Response> => fetch(url)\n'],
  ['a fetch of the global object', 'export const read = (url: string): Promise<Response> => globalThis.fetch(url)\n'],
  ['a fetch as a default', 'export const read = (url: string, get = fetch): Promise<Response> => get(url)\n'],
  ['a socket', 'export const open = (url: string): WebSocket => new WebSocket(url)\n'],
] as const

const imports = [
  ['node:http', "import { request } from 'node:http'\nexport const get = request\n"],
  ['node:https', "import * as https from 'node:https'\nexport const get = https.get\n"],
  ['node:net', "import { connect } from 'node:net'\nexport const open = connect\n"],
  ['undici', "import { fetch } from 'undici'\nexport const get = fetch\n"],
] as const

const allowed = [
  "import type { IncomingMessage } from 'node:http'",
  'export const headersOf = (message: IncomingMessage): unknown => message.headers',
  'export const read = (fetch: (url: string) => Promise<string>, url: string): Promise<string> => fetch(url)',
  'export type Fetch = typeof globalThis.fetch',
  '',
].join('\n')

const reader = 'packages/drivers/src/http/page-reader.ts'
const places = [
  reader,
  'packages/drivers/src/mcp/index.ts',
  'packages/drivers/src/images/openai-images.ts',
  'packages/agent/src/actions/open-url.ts',
  'packages/conversations/src/custom-tools/openapi-actions.ts',
  'packages/server/src/routes/chat/tools.ts',
  'packages/inlay/src/parts/web-parts.ts',
]

interface Case {
  readonly name: string
  /** Path in the repository. */
  readonly path: string
  readonly source: string
  /** The rule that refuses it; none for what is allowed. */
  readonly rule?: RegExp
}

const cases: readonly Case[] = [
  ...places.flatMap((path) =>
    violations.map(([name, source]) => ({ name, path, source, rule: /no-restricted-(?:globals|properties)/ })),
  ),
  ...imports.map(([name, source]) => ({ name, path: reader, source, rule: /no-restricted-imports/ })),
  { name: 'what a function is handed as `fetch`, and types of it', path: reader, source: allowed },
]

/** Messages of the linter by case. Each stands in a repository of its own, so that one run lints all. */
let messages: readonly string[]

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-lint-'))
  // Plugins would be loaded for each repository, and none of them is asked here.
  const configuration = readFileSync('.oxlintrc.json', 'utf8').replace(/^.*(?:"jsPlugins"|"regexp\/).*\n/gm, '')
  try {
    for (const [index, { path, source }] of cases.entries()) {
      const repository = join(folder, `case-${index}`)
      mkdirSync(join(repository, dirname(path)), { recursive: true })
      writeFileSync(join(repository, '.oxlintrc.json'), configuration)
      writeFileSync(join(repository, path), source)
    }
    const linter = join(process.cwd(), 'node_modules/.bin/oxlint')
    const output = await new Promise<string>((resolve) => {
      execFile(linter, ['--format', 'unix'], { cwd: folder }, (_error, stdout) => resolve(stdout))
    })
    const lines = output.split('\n')
    messages = cases.map((_, index) => lines.filter((line) => line.includes(`case-${index}/`)).join('\n'))
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})

test('the linter refuses what would go around the egress client, and nothing else', () => {
  for (const [index, { name, path, rule }] of cases.entries()) {
    if (rule) expect(messages[index], `${name} in ${path}`).toMatch(rule)
    else expect(messages[index], name).not.toContain('no-restricted')
  }
})

test('no source loads a way to the network on its way, which the linter does not see', () => {
  const loads = /import\(\s*['"](?:node:)?(?:https?|http2|net|tls|dgram|undici)['"]/
  const files = globSync('packages/*/src/**/*.ts').filter((file) => loads.test(readFileSync(file, 'utf8')))
  // Carries requests to models, whose addresses the operator configured.
  expect(files).toEqual(['packages/drivers/src/models/stream/http-transport.ts'])
})
