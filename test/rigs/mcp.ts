/**
 * Calls ten MCP servers of npm and PyPI in chats with a scripted model: `npm run -w test/rigs check:mcp -- [folder]`.
 * Installs them into the folder first, by default a temporary one; needs npm, Python 3 and git. Fails when a call does.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import chromium from '@sparticuz/chromium'
import { operator } from '@inlay/protocol'
import { createInlay, type McpProgram, type McpServer } from 'inlay'
import { startOpenAi } from '../stand-in/openai.ts'

const npmPackages = [
  '@modelcontextprotocol/server-everything',
  '@modelcontextprotocol/server-filesystem',
  '@modelcontextprotocol/server-memory',
  '@modelcontextprotocol/server-sequential-thinking',
  '@playwright/mcp',
]
// One of them needs an older library than the others.
const pythonPackages = {
  venv: ['mcp-server-git', 'mcp-server-fetch', 'mcp-server-time', 'fastmcp'],
  'venv-sqlite': ['mcp-server-sqlite', 'mcp<2'],
}

const folder = resolve(process.argv[2] ?? mkdtempSync(join(tmpdir(), 'inlay-mcp-')))
const work = mkdtempSync(join(tmpdir(), 'inlay-mcp-work-'))
const write = (line: string): void => void process.stdout.write(`${line}\n`)

function install(): void {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}')
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...npmPackages], { cwd: folder })
  for (const [name, packages] of Object.entries(pythonPackages)) {
    if (!existsSync(join(folder, name))) execFileSync('python3', ['-m', 'venv', join(folder, name)])
    execFileSync(join(folder, name, 'bin/pip'), ['install', '--quiet', ...packages])
  }
}

const nodeProgram = (name: string, ...args: string[]): McpProgram => ({
  name,
  command: join(folder, 'node_modules/.bin', name),
  args,
})
const pythonProgram = (name: string, ...args: string[]): McpProgram => ({
  name,
  command: join(folder, 'venv/bin', name),
  args,
})

// A server with sessions, which are gone when it starts anew.
const fastMcp = `
import sys
from fastmcp import FastMCP
mcp = FastMCP("sums")
@mcp.tool
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b
mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
`
async function startFastMcp(port: number): Promise<ChildProcess> {
  writeFileSync(join(work, 'sums.py'), fastMcp)
  const child = spawn(join(folder, 'venv/bin/python'), [join(work, 'sums.py'), String(port)], { stdio: 'ignore' })
  for (let tries = 0; tries < 300; tries++) {
    const answers = await fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    )
    if (answers) return child
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error('The FastMCP server does not start.')
}

async function end(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

install()
execFileSync('git', ['init', '--quiet', work])
const page = createServer((request, response) => {
  response.writeHead(request.url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' })
  response.end('<title>Page</title><h1>The library is on the third floor.</h1>')
}).listen(0, '127.0.0.1')
await once(page, 'listening')
const pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`
const port = (page.address() as AddressInfo).port + 1
let sums = await startFastMcp(port)

const browser = ['--headless', '--isolated', '--no-sandbox', '--executable-path', await chromium.executablePath()]
const servers: (McpServer | McpProgram)[] = [
  nodeProgram('mcp-server-everything'),
  nodeProgram('mcp-server-filesystem', work),
  { ...nodeProgram('mcp-server-memory'), env: { MEMORY_FILE_PATH: join(work, 'memory.json') } },
  nodeProgram('mcp-server-sequential-thinking'),
  { ...nodeProgram('playwright-mcp', ...browser), cwd: work },
  pythonProgram('mcp-server-git', '--repository', work),
  pythonProgram('mcp-server-fetch', '--allow-private-ips'),
  pythonProgram('mcp-server-time', '--local-timezone', 'UTC'),
  {
    name: 'mcp-server-sqlite',
    command: join(folder, 'venv-sqlite/bin/mcp-server-sqlite'),
    args: ['--db-path', join(work, 'a.db')],
  },
  { name: 'fastmcp', url: `http://127.0.0.1:${port}/mcp`, allowPrivate: true },
]
const entity = { name: 'Ana', entityType: 'person', observations: ['likes tea'] }
const thought = { thought: 'First', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }
const calls: [server: string, tool: string, input: object, expected: string, before?: () => Promise<void>][] = [
  ['mcp-server-everything', 'get-sum', { a: 19, b: 23 }, '42'],
  ['mcp-server-everything', 'get-tiny-image', {}, 'image/png'],
  ['mcp-server-everything', 'get-structured-content', { location: 'Chicago' }, 'temperature'],
  ['mcp-server-everything', 'trigger-long-running-operation', { duration: 1, steps: 2 }, 'completed'],
  ['mcp-server-filesystem', 'write_file', { path: join(work, 'note.txt'), content: 'Hello' }, 'Successfully'],
  ['mcp-server-filesystem', 'list_directory', { path: work }, 'note.txt'],
  ['mcp-server-memory', 'create_entities', { entities: [entity] }, 'likes tea'],
  ['mcp-server-memory', 'search_nodes', { query: 'tea' }, 'Ana'],
  ['mcp-server-sequential-thinking', 'sequentialthinking', thought, 'thoughtNumber'],
  ['playwright-mcp', 'browser_navigate', { url: pageUrl }, 'Page Title: Page'],
  ['playwright-mcp', 'browser_take_screenshot', { type: 'png', scale: 'css' }, 'image/png'],
  ['mcp-server-git', 'git_status', { repo_path: work }, 'note.txt'],
  ['mcp-server-fetch', 'fetch', { url: pageUrl, raw: true }, 'third floor'],
  ['mcp-server-time', 'get_current_time', { timezone: 'Asia/Tokyo' }, '+09:00'],
  ['mcp-server-sqlite', 'create_table', { query: 'create table dogs (name text)' }, 'success'],
  ['mcp-server-sqlite', 'list_tables', {}, 'dogs'],
  ['fastmcp', 'add', { a: 1, b: 2 }, '3'],
  [
    'fastmcp',
    'add',
    { a: 3, b: 4 },
    '7',
    async () => {
      await end(sums)
      sums = await startFastMcp(port)
    },
  ],
]

let step: { tool: string; input: object } | undefined
const model = await startOpenAi(() => {
  const call = step
  step = undefined
  return call ? [{ calls: [{ id: 'c1', name: call.tool, input: call.input }] }] : [{ text: 'Done.' }]
})
const inlay = createInlay({
  dataFolder: join(work, 'data'),
  authenticate: () => operator,
  model: { name: 'm', baseUrl: `${model.origin}/v1`, apiKey: 'k', contextTokens: 100_000, grounding: 'tools' },
  sessionNames: 'question',
  mcpServers: servers,
  onError: (error) => write(`  reported: ${error instanceof Error ? error.message : String(error)}`),
})
let failures = 0
let session: string | null = null
const started = await inlay.mcp.check()
for (const { name, tools, problem } of started) write(`${name}: ${problem ?? `${tools.length} tools`}`)
for (const [server, tool, input, expected, before] of calls) {
  await before?.()
  const names = [tool, `mcp_${server}_${tool}`.replaceAll(/[^\w-]/g, '_')]
  const listed = (await (await inlay.fetch(new Request('http://x/api/tool'))).json()) as { name: string }[]
  step = { tool: names.toReversed().find((name) => listed.some((each) => each.name === name)) ?? tool, input }
  const body = JSON.stringify({ message: `Use ${tool}`, chat_session_id: session, stream: false })
  const headers = { 'content-type': 'application/json' }
  const request = new Request('http://x/api/chat/send-chat-message', { method: 'POST', headers, body })
  const answer = (await (await inlay.fetch(request)).json()) as {
    chat_session_id?: string
    tool_calls?: { tool_result: string }[]
  }
  session = answer.chat_session_id ?? session
  const result = answer.tool_calls?.at(-1)?.tool_result ?? JSON.stringify(answer)
  const isRight = result.includes(expected) && result.includes('"error":null')
  if (!isRight) failures++
  write(`${isRight ? 'ok    ' : 'FAILED'} ${server} ${tool}${isRight ? '' : `: ${result.slice(0, 400)}`}`)
}
await inlay.close()
await end(sums)
await model.close()
page.close()
page.closeAllConnections()
rmSync(work, { recursive: true, force: true })
process.exitCode = failures === 0 ? 0 : 1
