import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InlayOptions } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import { key, serve } from './installation.ts'

async function serveEmpty(options: InlayOptions): ReturnType<typeof serve> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-check-'))
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  return serve({ dataFolder, ...options })
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
  const { base, inlay } = await serveEmpty({ streamFormat: 'lines', ingestionWaitMs: 60_000, corsOrigins: [origin] })
  expect(await check(base, '--key', key, '--origin', origin)).toEqual({ code: 0, failed: [] })
  const listed = async (path: string): Promise<unknown> =>
    (await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()
  expect(await listed('/service-api/ingestion')).toEqual([])
  expect(await listed('/user/files/recent')).toEqual([])
  expect(await listed('/chat/get-user-chat-sessions?include_failed_chats=true')).toMatchObject({ sessions: [] })
  expect(await inlay.knowledge.hasDocuments()).toBe(false)
})

test('a key of its own framing mends the streams of one client alone', async () => {
  const { base, inlay } = await serveEmpty({ ingestionWaitMs: 60_000 })
  const { code, failed } = await check(base, '--key', key)
  expect(code).toBe(1)
  expect(failed).toMatchObject([{ fault: expect.stringContaining('id: 1'), mend: expect.stringContaining('lines') }])
  const created = await inlay.keys.create({ scopes: ['chat', 'ingest'], streamFormat: 'lines' })
  expect(await check(base, '--key', created.key)).toEqual({ code: 0, failed: [] })
})

test('an address that does not answer, or a key that is not known, is told first and alone', async () => {
  expect((await check('http://127.0.0.1:9/api', '--key', key)).failed).toMatchObject([
    { what: expect.stringMatching(/URL/) },
  ])
  const { base } = await serveEmpty({})
  expect((await check(base, '--key', 'another-key')).failed).toMatchObject([
    { fault: expect.stringContaining('401'), mend: expect.stringContaining('inlay keys create') },
  ])
})
