import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay } from 'inlay'
import type { CallerLimits } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'

interface Answered {
  readonly status: number
  readonly retryAfter: number
  readonly detail: string
}

/** An assistant with a key; its clock stands at noon (UTC) unless a test moves it. */
async function newSetting(callerLimits: CallerLimits, own?: CallerLimits) {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-limits-'))
  const clock = { time: Date.UTC(2026, 0, 12, 12) }
  const inlay = createInlay({ dataFolder: folder, callerLimits, now: () => clock.time, onError: () => {} })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const expiresAt = clock.time + 86_400_000
  const { key } = await inlay.keys.create({ scopes: ['admin'], expiresAt, ...(own && { limits: own }) })
  const call = async (path: string, body?: object | FormData): Promise<Answered> => {
    const sent = body instanceof FormData ? new Response(body) : new Response(JSON.stringify(body))
    const headers = { authorization: `Bearer ${key}`, 'content-type': sent.headers.get('content-type') ?? '' }
    // Whole: a form that nobody reads to its end fails in the client.
    const init = body && { method: 'POST', body: await sent.arrayBuffer() }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { headers, ...init }))
    const { detail = '' } = (await response.json()) as { detail?: string }
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after')), detail }
  }
  return { clock, inlay, call }
}

const dayLeft = 43_200
const message = { message: 'Hello?', stream: false }

test('requests over the limit of a minute are refused until the next', async () => {
  const { call, clock } = await newSetting({ requestsPerMinute: 2 })
  expect([(await call('/me')).status, (await call('/me')).status]).toEqual([200, 200])
  expect(await call('/me')).toEqual({
    status: 429,
    retryAfter: 60,
    detail: 'You have used 2 of 2 requests a minute: try again in 60 seconds.',
  })
  expect((await call('/health')).status).toBe(200)
  clock.time += 60_000
  expect((await call('/me')).status).toBe(200)
})

test('new sessions, uploaded files and documents are limited each by itself', async () => {
  const { call } = await newSetting({ sessionsPerDay: 2, uploadsPerDay: 1, documentsPerDay: 1 })
  expect((await call('/chat/create-chat-session', {})).status).toBe(200)
  expect((await call('/chat/send-chat-message', message)).status).toBe(200)
  for (const path of ['/chat/create-chat-session', '/chat/send-chat-message'])
    expect(await call(path, path.includes('send') ? message : {})).toMatchObject({ status: 429, retryAfter: dayLeft })
  const upload = (): FormData => {
    const form = new FormData()
    form.append('files', new File(['Herons.'], 'herons.txt', { type: 'text/plain' }))
    return form
  }
  expect((await call('/user/projects/file/upload', upload())).status).toBe(200)
  expect(await call('/user/projects/file/upload', upload())).toMatchObject({ status: 429, retryAfter: dayLeft })
  const ingest = (id: string) =>
    call('/service-api/ingestion', {
      document: { id, semantic_identifier: id, metadata: {}, sections: [{ text: id }] },
    })
  expect((await ingest('a')).status).toBe(200)
  expect((await ingest('b')).detail).toContain('1 of 1 ingested documents a day')
})

test('a day whose tokens are used up refuses the next message, also of a key with a limit of its own', async () => {
  const { call, clock } = await newSetting({ tokensPerDay: 1_000_000 }, { tokensPerDay: 1 })
  expect((await call('/chat/send-chat-message', message)).status).toBe(200)
  await expect.poll(async () => (await call('/chat/send-chat-message', message)).status).toBe(429)
  clock.time += 43_200_000
  expect((await call('/chat/send-chat-message', message)).status).toBe(200)
})

test('a key that has expired is refused', async () => {
  const { call, clock, inlay } = await newSetting({})
  const [record] = await inlay.keys.list()
  expect(record).toMatchObject({ expiresAt: clock.time + 86_400_000, limits: null })
  clock.time += 86_400_000
  expect((await call('/me')).status).toBe(401)
  await inlay.keys.change(record!.id, { expiresAt: null, limits: { requestsPerMinute: 1 } })
  expect([(await call('/me')).status, (await call('/me')).status]).toEqual([200, 429])
})
