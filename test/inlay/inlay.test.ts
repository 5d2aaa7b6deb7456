import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createLineDecoder, fold, toUserId, type ChatFullResponse } from '@inlay/protocol'

const folder = mkdtempSync(join(tmpdir(), 'inlay-test-'))
const open: Inlay[] = []
let count = 0
const key = 'the-key-of-the-test'

afterEach(async () => {
  await Promise.all(open.splice(0).map((inlay) => inlay.close()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

function make(options: InlayOptions = {}): Inlay {
  const inlay = createInlay({
    dataFolder: join(folder, String(++count)),
    apiKey: key,
    worker: { lingerMs: 1 },
    ...options,
  })
  open.push(inlay)
  return inlay
}

const call = async (
  inlay: Inlay,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  inlay.fetch(
    new Request(`http://host.example/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    }),
  )

const document = (id: string, text: string): object => ({
  document: {
    id,
    semantic_identifier: id,
    source: 'web',
    metadata: {},
    sections: [{ text, link: `https://docs.example/${id}` }],
  },
})

const waiting = { prefer: 'wait=60' }
const leave = 'Staff receive 25 days of paid leave a year. Leave that is not taken by March is lost.'

describe('an assistant', () => {
  test('searches in the order of a reranker and of a preference for the new, when told to', async () => {
    const rerank = async (_: string, texts: readonly string[]): Promise<number[]> =>
      texts.map((text) => (text.includes('rooms') ? 0.9 : 0.5))
    const titlesWith = async (options: InlayOptions): Promise<unknown> => {
      const inlay = make(options)
      const [old, recent] = ['2001-01-01T00:00:00Z', new Date().toISOString()]
      for (const [id, text, date] of [
        ['leave', 'reading room hours, reading room rules', old],
        ['rooms', 'The reading room is open.', recent],
      ] as const) {
        const { document: fields } = document(id, text) as { document: object }
        await call(inlay, '/service-api/ingestion', { document: { ...fields, doc_updated_at: date } }, waiting)
      }
      const answer = await call(inlay, '/search', { query: 'reading room hours' })
      return ((await answer.json()) as { results: { title: string }[] }).results.map(({ title }) => title)
    }
    expect(await titlesWith({})).toEqual(['leave', 'rooms'])
    expect(await titlesWith({ reranker: { rerank } })).toEqual(['rooms', 'leave'])
    expect(await titlesWith({ ranking: { recency: { halfLifeDays: 30, weight: 0.95 } } })).toEqual(['rooms', 'leave'])
  })

  test('answers what it was told, with a citation of where it stands, streamed and whole alike', async () => {
    const inlay = make()
    await call(inlay, '/service-api/ingestion', document('leave', leave), waiting)
    await call(
      inlay,
      '/service-api/ingestion',
      document('rooms', 'The reading room is open until 18 on weekdays.'),
      waiting,
    )
    // Folding in may change the order.
    await expect.poll(async () => (await inlay.knowledge.figures()).index.unindexedRows).toBe(0)
    const question = { message: 'How many days of paid leave do staff receive?' }
    const whole = (await (
      await call(inlay, '/chat/send-chat-message', { ...question, stream: false })
    ).json()) as ChatFullResponse
    expect(whole.answer).toContain('25 days of paid leave a year')
    expect(whole.answer).toContain('(https://docs.example/leave)')
    expect(whole.citation_info.map(({ document_id }) => document_id)).toEqual(['leave'])
    expect(whole.error_msg).toBeNull()
    const decoder = createLineDecoder()
    const streamed = await call(inlay, '/chat/send-chat-message', question)
    const lines = [...decoder.push(new Uint8Array(await streamed.arrayBuffer())), ...decoder.end()].map(
      ({ line }) => line,
    )
    const folded = fold(lines)
    expect(folded.answer).toBe(whole.answer)
    expect(folded.citation_info).toEqual(whole.citation_info)
    expect(folded.top_documents).toEqual(whole.top_documents)
  })

  test('keeps documents, sessions and keys over a restart', async () => {
    const dataFolder = join(folder, 'kept')
    const first = make({ dataFolder })
    await call(first, '/service-api/ingestion', document('leave', leave), waiting)
    const created = await first.keys.create({ scopes: ['chat'], owner: 'ann' })
    const response = await call(
      first,
      '/chat/send-chat-message',
      { message: 'leave?', stream: false },
      { authorization: `Bearer ${created.key}` },
    )
    const { chat_session_id } = (await response.json()) as ChatFullResponse
    await first.close()
    const second = make({ dataFolder })
    const again = await call(
      second,
      '/chat/send-chat-message',
      { message: 'How many days of leave?', stream: false, chat_session_id },
      { authorization: `Bearer ${created.key}` },
    )
    expect(((await again.json()) as ChatFullResponse).answer).toContain('25 days')
    // Another caller does not even learn that the session exists.
    const foreign = await call(second, '/chat/send-chat-message', { message: 'x', stream: false, chat_session_id })
    expect(foreign.status).toBe(404)
  })

  test('is one of several in a process, each with its own documents and keys', async () => {
    const [first, other] = [make(), make({ basePath: '/other' })]
    await call(first, '/service-api/ingestion', document('leave', leave), waiting)
    expect(await first.knowledge.hasDocuments()).toBe(true)
    expect(await other.knowledge.hasDocuments()).toBe(false)
    const { key: ofOne } = await first.keys.create({ scopes: ['admin'] })
    const request = (): Request => new Request('http://h.example/me', { headers: { authorization: `Bearer ${ofOne}` } })
    expect([(await first.fetch(request())).status, (await other.fetch(request())).status]).toEqual([200, 401])
    await first.close()
    expect((await other.fetch(new Request('http://h.example/other/health'))).status).toBe(200)
    expect(await other.knowledge.hasDocuments()).toBe(false)
  })

  test('two over one folder, as a server and a command line are, see the same', async () => {
    const dataFolder = join(folder, 'shared')
    const [first, other] = [make({ dataFolder }), make({ dataFolder })]
    await Promise.all([first.start(), other.start()])
    await call(first, '/service-api/ingestion', document('leave', leave), waiting)
    const { results } = (await (await call(other, '/search', { query: 'paid leave' })).json()) as {
      results: { title: string }[]
    }
    expect(results[0]?.title).toBe('leave')
  })

  test('asks the host first, then its keys', async () => {
    const inlay = make({
      authenticate: (request) =>
        request.headers.get('x-user') === null ? undefined : { id: request.headers.get('x-user')!, scopes: ['search'] },
    })
    const me = async (headers: Record<string, string>): Promise<unknown> =>
      (await inlay.fetch(new Request('http://h.example/me', { headers }))).json()
    expect(await me({ 'x-user': 'zoe', authorization: `Bearer ${key}` })).toMatchObject({
      id: toUserId('zoe'),
      effective_permissions: ['read:search'],
    })
    expect(await me({ authorization: `Bearer ${key}` })).toMatchObject({ id: toUserId('operator'), is_superuser: true })
    expect(await me({ authorization: `Bearer ${key}x` })).toMatchObject({ error_code: 'INVALID_TOKEN' })
  })
})

describe('life', () => {
  const inTheWay = join(folder, 'a-file')
  writeFileSync(inTheWay, 'not a folder')

  test('nothing is opened for what anybody may ask', async () => {
    const inlay = make({ dataFolder: inTheWay })
    expect((await inlay.fetch(new Request('http://h.example/api/health'))).status).toBe(200)
  })

  test('a start that fails says so, each time, and can succeed later', async () => {
    const errors: unknown[] = []
    const inlay = make({ dataFolder: inTheWay, onError: (error) => errors.push(error) })
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await call(inlay, '/tool')
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(JSON.stringify(await response.json())).not.toContain(folder)
      await expect(inlay.start()).rejects.toThrow()
    }
    rmSync(inTheWay)
    expect((await call(inlay, '/tool')).status).toBe(200)
  })

  test('closing may be done twice, and before anything began; what is used afterwards says that it is closed', async () => {
    const inlay = make()
    await inlay.start()
    await Promise.all([inlay.close(), inlay.close()])
    await inlay.close()
    const response = await call(inlay, '/tool')
    expect([response.status, await response.json()]).toMatchObject([503, { error_code: 'CLOSED' }])
    await expect(inlay.start()).rejects.toMatchObject({ code: 'CLOSED' })
    const unused = make()
    await unused.close()
    expect((await call(unused, '/tool')).status).toBe(503)
  })

  test('many first requests start it once', async () => {
    const inlay = make()
    const responses = await Promise.all(Array.from({ length: 20 }, () => call(inlay, '/tool')))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  })
})
