import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { scriptedModel } from '@inlay/agent/testing'
import { createInlay, type InlayOptions } from 'inlay'
import type { CallerLimits } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { providerOf } from '../../agent/setting.ts'

interface Answered {
  readonly status: number
  readonly retryAfter: number
  readonly detail: string
}

/** An assistant with a key; its clock is at noon (UTC) unless a test moves it. */
async function newSetting(callerLimits: CallerLimits, own?: CallerLimits, options: InlayOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-limits-'))
  const clock = { time: Date.UTC(2026, 0, 12, 12) }
  const now = (): number => clock.time
  const inlay = createInlay({ dataFolder: folder, callerLimits, now, onError: () => {}, ...options })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const expiresAt = clock.time + 86_400_000
  const { key } = await inlay.keys.create({ scopes: ['admin'], expiresAt, ...(own && { limits: own }) })
  const send = async (
    path: string,
    body?: object | FormData,
    { as = key, method = 'POST' }: { as?: string; method?: string } = {},
  ): Promise<Response> => {
    const sent = body instanceof FormData ? new Response(body) : new Response(JSON.stringify(body))
    const headers = { authorization: `Bearer ${as}`, 'content-type': sent.headers.get('content-type') ?? '' }
    // Whole: a form that nobody reads to its end fails in the client.
    const init = body && { method, body: await sent.arrayBuffer() }
    return inlay.fetch(new Request(`http://host.example/api${path}`, { headers, ...init }))
  }
  const call = async (...args: Parameters<typeof send>): Promise<Answered> => {
    const response = await send(...args)
    const { detail = '' } = (await response.json()) as { detail?: string }
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after')), detail }
  }
  return { clock, inlay, call, send }
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

test('what administrators alone may do is not counted, so that a limit can always be undone', async () => {
  const { call, send } = await newSetting({})
  const limit = (requests: number | null) =>
    send('/admin/limits', { tenant: { requests_per_minute: requests } }, { method: 'PATCH' })
  expect((await limit(0)).status).toBe(200)
  expect(await call('/me')).toMatchObject({ status: 429, retryAfter: 60 })
  expect((await send('/admin/limits')).status).toBe(200)
  expect((await limit(null)).status).toBe(200)
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

test('limits of a key count for this key alone, those of callers over all keys of an owner', async () => {
  const { call, inlay } = await newSetting({ requestsPerMinute: 3 })
  const keyFor = async (owner: string, limits?: CallerLimits): Promise<string> =>
    (await inlay.keys.create({ scopes: ['chat'], owner, ...(limits && { limits }) })).key
  const [narrow, wide, plain, other] = [
    await keyFor('ana', { requestsPerMinute: 1 }),
    await keyFor('ana', { requestsPerMinute: 5 }),
    await keyFor('ana'),
    await keyFor('ana'),
  ]
  const statuses = async (times: number, ...keys: string[]): Promise<number[]> => {
    const all: number[] = []
    for (let time = 0; time < times; time++)
      all.push((await call('/me', undefined, { as: keys[time % keys.length]! })).status)
    return all
  }
  expect(await statuses(2, narrow)).toEqual([200, 429])
  expect((await call('/me', undefined, { as: narrow })).detail).toContain('This key has used 1 of 1 requests a minute')
  expect(await statuses(6, wide)).toEqual([200, 200, 200, 200, 200, 429])
  expect(await statuses(4, plain, other)).toEqual([200, 200, 200, 429])
})

test('limits of the tenant bind all callers together', async () => {
  const { call, inlay } = await newSetting({}, undefined, { tenantLimits: { requestsPerMinute: 2 } })
  const { key: as } = await inlay.keys.create({ scopes: ['chat'], limits: { requestsPerMinute: 100 } })
  expect([(await call('/me')).status, (await call('/me', undefined, { as })).status]).toEqual([200, 200])
  expect((await call('/me')).detail).toContain('All callers together have used 2 of 2')
  expect((await call('/me', undefined, { as })).status).toBe(429)
})

test('a share of the queue is full until documents of it are indexed', async () => {
  const gate = Promise.withResolvers<void>()
  const summarize = async (): Promise<string> => (await gate.promise, '')
  const { call, inlay } = await newSetting({ waitingDocuments: 2 }, undefined, { summarize })
  const { key: as } = await inlay.keys.create({ scopes: ['ingest'] })
  const ingest = (id: string, key?: string) => {
    const document = { id, semantic_identifier: id, metadata: {}, sections: [{ text: `Herons of ${id}. `.repeat(20) }] }
    return call('/service-api/ingestion', { document }, key === undefined ? {} : { as: key })
  }
  expect([(await ingest('a')).status, (await ingest('b')).status]).toEqual([200, 200])
  expect(await ingest('c')).toMatchObject({ status: 429, retryAfter: 5 })
  expect((await ingest('d', as)).status).toBe(200)
  gate.resolve()
  await expect.poll(async () => (await ingest('c')).status, { timeout: 60_000 }).toBe(200)
})

test('the queue of all callers is counted over all processes', async () => {
  const gate = Promise.withResolvers<void>()
  const summarize = async (): Promise<string> => (await gate.promise, '')
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-limits-'))
  // After both are closed.
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  const own = { tenantLimits: { waitingDocuments: 2 }, summarize, dataFolder }
  const first = await newSetting({}, undefined, own)
  const second = await newSetting({}, undefined, own)
  const document = (id: string) => ({
    document: { id, semantic_identifier: id, metadata: {}, sections: [{ text: `Herons of ${id}. `.repeat(20) }] },
  })
  expect((await first.call('/service-api/ingestion', document('a'))).status).toBe(200)
  expect((await first.call('/service-api/ingestion', document('b'))).status).toBe(200)
  expect(await second.call('/service-api/ingestion', document('c'))).toMatchObject({
    status: 429,
    detail: expect.stringContaining('2 of 2 documents waiting') as string,
  })
  gate.resolve()
  await expect
    .poll(async () => (await second.call('/service-api/ingestion', document('c'))).status, { timeout: 60_000 })
    .toBe(200)
})

test('so is the share of a key, whose documents are forgotten once they are done', async () => {
  const gate = Promise.withResolvers<void>()
  const summarize = async (): Promise<string> => (await gate.promise, '')
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-limits-'))
  // After both are closed.
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  const first = await newSetting({}, undefined, { summarize, dataFolder })
  const second = await newSetting({}, undefined, { summarize, dataFolder })
  const { key: as } = await first.inlay.keys.create({ scopes: ['ingest'], limits: { waitingDocuments: 2 } })
  const send = ({ call }: typeof first, id: string) => {
    const document = {
      id,
      semantic_identifier: id,
      metadata: {},
      sections: [{ text: `Herons of ${id}. `.repeat(2_000) }],
    }
    return call('/service-api/ingestion', { document }, { as })
  }
  expect([(await send(first, 'a')).status, (await send(first, 'b')).status]).toEqual([200, 200])
  // Another process learns of them within a second or two.
  await expect.poll(() => waitingRows(dataFolder)).toBe(2)
  expect(await send(second, 'c')).toMatchObject({
    status: 429,
    detail: expect.stringContaining('This key has used 2 of 2 documents waiting') as string,
  })
  gate.resolve()
  await expect.poll(async () => (await send(second, 'c')).status).toBe(200)
  await expect.poll(() => waitingRows(dataFolder)).toBe(0)
})

test('processes that are asked at once take in no more than a share, of a key or of all, holds', async () => {
  const gate = Promise.withResolvers<void>()
  const summarize = async (): Promise<string> => (await gate.promise, '')
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-limits-'))
  // After both are closed.
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  const own = { tenantLimits: { waitingDocuments: 6 }, summarize, dataFolder }
  const processes = [await newSetting({}, undefined, own), await newSetting({}, undefined, own)]
  const { key: as } = await processes[0]!.inlay.keys.create({ scopes: ['ingest'], limits: { waitingDocuments: 3 } })
  const flood = async (name: string, options: { as?: string }): Promise<number> => {
    const sent = Array.from({ length: 16 }, async (_, at) => {
      const id = `${name}-${at}`
      const document = {
        id,
        semantic_identifier: id,
        metadata: {},
        sections: [{ text: `Herons of ${id}. `.repeat(20) }],
      }
      return (await processes[at % 2]!.call('/service-api/ingestion', { document }, options)).status
    })
    return (await Promise.all(sent)).filter((status) => status === 200).length
  }
  const ofKey = await flood('key', { as })
  expect(ofKey).toBeLessThanOrEqual(3)
  const ofAll = await flood('all', {})
  expect(ofKey + ofAll).toBeLessThanOrEqual(6)
  gate.resolve()
})

test('parallel answers of two processes start only while tokens of the day are left', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-limits-'))
  // After both are closed.
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  const gate = Promise.withResolvers<void>()
  const usage = { input: 60, output: 20 }
  const model = scriptedModel(() => [{ pause: () => gate.promise }, 'Herons.', { finish: 'stop', usage }])
  const own = { dataFolder, model: providerOf(model), sessionNames: 'question' as const }
  const processes = [await newSetting({}, undefined, own), await newSetting({}, undefined, own)]
  const { key: as } = await processes[0]!.inlay.keys.create({ scopes: ['chat'], limits: { tokensPerDay: 200 } })
  const ask = (at: number) => processes[at % 2]!.call('/chat/send-chat-message', message, { as })
  const refusedAtOnce = Promise.withResolvers<void>()
  let refused = 0
  const flood = Array.from({ length: 30 }, async (_, at) => {
    const { status, detail, retryAfter } = await ask(at)
    if (status === 429) {
      expect({ detail, retryAfter }).toEqual({
        detail:
          'This key has used 0 of 200 tokens a day, and running answers may use the rest: try again when one of them has ended.',
        retryAfter: 5,
      })
      if (++refused === 29) refusedAtOnce.resolve()
    }
    return status
  })
  await refusedAtOnce.promise
  gate.resolve()
  expect((await Promise.all(flood)).filter((status) => status === 200)).toHaveLength(1)
  const usedTokens = async (): Promise<number> => {
    const { used } = (await (await processes[1]!.send('/admin/limits')).json()) as { used: { used: number }[] }
    return Math.max(0, ...used.map((each) => each.used))
  }
  // The answers after it go one by one, and the last of them passes the limit.
  for (const [at, tokens] of [80, 160, 240].entries()) {
    await expect.poll(usedTokens).toBe(tokens)
    expect((await ask(at)).status).toBe(tokens < 200 ? 200 : 429)
  }
})

/** Documents that are counted for callers and keys. */
function waitingRows(dataFolder: string): number {
  const database = new DatabaseSync(join(dataFolder, 'inlay.db'), { readOnly: true })
  try {
    return Number(database.prepare('select count(*) as count from inlay_waiting_documents').get()?.['count'])
  } finally {
    database.close()
  }
}

test('administrators give keys an end and limits, and see when they were used', async () => {
  const { send, call, clock } = await newSetting({})
  const expires_at = new Date(clock.time + 3_600_000).toISOString()
  const limits = { requests_per_minute: 1 }
  const created = (await (await send('/admin/api-key', { scopes: ['chat'], expires_at, limits })).json()) as {
    api_key: string
    api_key_id: number
  }
  expect(created).toMatchObject({
    expires_at,
    last_used_at: null,
    limits: { requests_per_minute: 1, tokens_per_day: null },
  })
  const as = created.api_key
  expect([(await call('/me', undefined, { as })).status, (await call('/me', undefined, { as })).status]).toEqual([
    200, 429,
  ])
  const path = `/admin/api-key/${created.api_key_id}`
  const changed = await send(path, { limits: null, expires_at: null }, { method: 'PATCH' })
  expect(await changed.json()).toMatchObject({ limits: null, expires_at: null, scopes: ['chat'] })
  expect((await call('/me', undefined, { as })).status).toBe(200)
  await expect
    .poll(
      async () => {
        const keys = (await (await send('/admin/api-key')).json()) as { api_key_id: number; last_used_at: string }[]
        return keys.find(({ api_key_id: id }) => id === created.api_key_id)?.last_used_at
      },
      { timeout: 60_000 },
    )
    .toBe(new Date(clock.time).toISOString())
  const rotated = (await (await send(`${path}/regenerate`, {})).json()) as { api_key: string }
  expect((await call('/me', undefined, { as })).status).toBe(401)
  expect((await call('/me', undefined, { as: rotated.api_key })).status).toBe(200)
})

test('administrators change the limits of callers and of the tenant while it runs', async () => {
  const { send, call, inlay } = await newSetting({ requestsPerMinute: 100 })
  const { key: as } = await inlay.keys.create({ scopes: ['chat'], owner: 'ana' })
  await call('/me', undefined, { as })
  const change = async (body: object) => (await send('/admin/limits', body, { method: 'PATCH' })).json()
  expect(await change({ callers: { requests_per_minute: 2 } })).toMatchObject({
    callers: { requests_per_minute: 2, tokens_per_day: null },
    tenant: { requests_per_minute: null },
  })
  expect([(await call('/me', undefined, { as })).status, (await call('/me', undefined, { as })).status]).toEqual([
    200, 429,
  ])
  expect(await change({ callers: null, tenant: { tokens_per_day: 10 } })).toMatchObject({
    callers: { requests_per_minute: 100 },
    tenant: { tokens_per_day: 10 },
  })
  const shown = (await (await send('/admin/limits')).json()) as { used: object[] }
  expect(shown.used).toContainEqual({
    of: 'caller',
    user_id: expect.any(String),
    api_key_id: null,
    limit: 'requests_per_minute',
    used: 2,
    resets_at: '2026-01-12T12:01:00.000Z',
  })
  expect((await call('/admin/limits', undefined, { as })).status).toBe(403)
  expect((await send('/admin/limits', { callers: { requests_per_minute: -1 } }, { method: 'PATCH' })).status).toBe(422)
})
