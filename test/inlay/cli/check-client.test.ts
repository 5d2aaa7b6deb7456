import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, nodeListener, type Inlay, type InlayOptions } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'

const key = 'the-key-of-the-test'

async function serve(options: InlayOptions): Promise<{ readonly base: string; readonly inlay: Inlay }> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-check-'))
  const inlay = createInlay({ dataFolder: folder, apiKey: key, ...options })
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await inlay.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, inlay }
}

interface Outcome {
  readonly what: string
  readonly fault: string | null
  readonly mend: string | null
}

async function check(...words: string[]): Promise<{ readonly code: number; readonly failed: readonly Outcome[] }> {
  let printed = ''
  const code = await runCommandLine(['check-client', '--json', ...words], {
    env: () => ({}),
    stdout: { write: (text) => (printed += text) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  const outcomes = JSON.parse(printed) as Outcome[]
  return { code, failed: outcomes.filter(({ fault }) => fault !== null) }
}

test('with its settings an installation passes every check, and nothing is left behind', async () => {
  const origin = 'https://app.example'
  const { base, inlay } = await serve({ streamFormat: 'lines', ingestionWaitMs: 10_000, corsOrigins: [origin] })
  expect(await check(base, '--key', key, '--origin', origin)).toEqual({ code: 0, failed: [] })
  const listed = async (path: string): Promise<unknown> =>
    (await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()
  expect(await listed('/service-api/ingestion')).toEqual([])
  expect(await listed('/user/files/recent')).toEqual([])
  expect(await listed('/chat/get-user-chat-sessions?include_failed_chats=true')).toMatchObject({ sessions: [] })
  expect(await inlay.knowledge.hasDocuments()).toBe(false)
})

test('a key of its own framing mends the streams of one client alone', async () => {
  const { base, inlay } = await serve({ ingestionWaitMs: 10_000 })
  const { code, failed } = await check(base, '--key', key)
  expect(code).toBe(1)
  expect(failed).toMatchObject([{ fault: expect.stringContaining('id: 1'), mend: expect.stringContaining('lines') }])
  const created = await inlay.keys.create({ scopes: ['chat', 'ingest'], streamFormat: 'lines' })
  expect(await check(base, '--key', created.key)).toEqual({ code: 0, failed: [] })
})

test('an address that does not answer, or a key that is not known, is told first and alone', async () => {
  expect((await check('http://127.0.0.1:9/api', '--key', key)).failed).toMatchObject([
    { what: expect.stringMatching(/address/) },
  ])
  const { base } = await serve({})
  expect((await check(base, '--key', 'another-key')).failed).toMatchObject([
    { fault: expect.stringContaining('401'), mend: expect.stringContaining('inlay keys create') },
  ])
})
