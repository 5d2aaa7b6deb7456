import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createLineDecoder, type StreamLine } from '@inlay/protocol'
import { createKeys, migrateServer, type KeyTable } from '@inlay/server'
import { Kysely } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { aDocument, delta, sessionId, setup, type Setup } from '../fakes.ts'

type Keys = ReturnType<typeof createKeys>

let db: Kysely<KeyTable>
/** Two processes on one database. */
let here: Keys
let elsewhere: Keys

beforeEach(async () => {
  db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(db)
  here = createKeys({ db })
  elsewhere = createKeys({ db })
})
afterEach(() => db.destroy())

/** A server of the first process, in which a run is speaking. */
function speaking(): Setup {
  const service = setup({ keys: here, authenticate: (request) => here.authenticate(request) })
  service.agent.run.say(delta('Once upon'))
  return service
}

const message = { message: 'Tell me a story' }

/** Everything that a reader gets, once the stream is over. */
async function linesOf(response: Response): Promise<StreamLine[]> {
  const decoder = createLineDecoder()
  return [...decoder.push(new Uint8Array(await response.arrayBuffer())), ...decoder.end()].map(({ line }) => line)
}

const refusal = [
  delta('Once upon'),
  { obj: { type: 'error', error_code: 'INVALID_TOKEN', is_retryable: false, exception: expect.any(String) } },
  { error: expect.any(String), error_code: 'INVALID_TOKEN', is_retryable: false },
]

describe.each([
  ['here', (): Keys => here],
  ['by another process', (): Keys => elsewhere],
])('a key that is refused %s', (_where, keys) => {
  test.each<[how: string, change: (id: number) => Promise<unknown>]>([
    ['revoked', (id) => keys().revoke(id)],
    ['replaced', (id) => keys().regenerate(id)],
    ['erased', () => keys().erase('ann')],
    ['expired', (id) => keys().change(id, { expiresAt: 1 })],
    ['without the scope', (id) => keys().change(id, { scopes: ['ingest'] })],
  ])('ends the streams of its readers, and those of no other: %s', async (_how, change) => {
    const { ask, agent } = speaking()
    const { key, record } = await here.create({ scopes: ['chat'], owner: 'ann' })
    const other = await here.create({ scopes: ['chat'] })
    const sent = linesOf(await ask('/chat/send-chat-message', { key, json: message }))
    const resumed = linesOf(await ask(`/chat/chat-session/${sessionId}/resume-stream`, { key }))
    const others = linesOf(await ask(`/chat/chat-session/${sessionId}/resume-stream`, { key: other.key }))
    await change(record.id)
    expect(await sent).toMatchObject(refusal)
    expect(await resumed).toMatchObject(refusal)
    await expect.poll(() => agent.run.readers).toBe(1)
    agent.run.say(delta(' a time'))
    agent.run.end()
    expect(await others).toEqual([delta('Once upon'), delta(' a time')])
  })

  test('ends a whole answer that is waited for with 401', async () => {
    const { ask, agent } = speaking()
    const run = Object.assign(agent.run, { whole: () => new Promise<never>(() => {}) })
    expect(run.finished).toBe(false)
    const { key, record } = await here.create({ scopes: ['chat'] })
    const answer = ask('/chat/send-chat-message', { key, json: { ...message, stream: false } })
    await expect.poll(() => agent.sent.length).toBe(1)
    await keys().revoke(record.id)
    const { status } = await answer
    expect(status).toBe(401)
  })

  test('cuts a batch that is being sent', async () => {
    const { ask, knowledge } = speaking()
    const { key, record } = await here.create({ scopes: ['ingest'] })
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const line = (id: string) => new TextEncoder().encode(`${JSON.stringify(aDocument(id))}\n`)
    void writer.write(line('a')).catch(() => {})
    const response = await ask('/service-api/ingestion/batch', { key, method: 'POST', body: readable })
    const reader = response.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"document_id":"a"')
    const rest = reader.read()
    await keys().revoke(record.id)
    await expect(rest).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
    await writer.write(line('b')).catch(() => {})
    expect([...knowledge.accepted.keys()]).toEqual(['a'])
  })

  test('is refused everywhere, as soon as a new key is known', async () => {
    const { key, record } = await here.create({ scopes: ['chat'] })
    await Promise.all([here, elsewhere].map((process) => process.principalOf(key)))
    await keys().revoke(record.id)
    const revokedAt = performance.now()
    for (const process of [here, elsewhere])
      await expect.poll(() => process.principalOf(key), { interval: 1 }).toBeUndefined()
    expect(performance.now() - revokedAt).toBeLessThan(1000)
  })
})

test('who reads to the end, or leaves, is not watched any more', async () => {
  const { ask, agent } = speaking()
  const { key, record } = await here.create({ scopes: ['chat'] })
  const read = linesOf(await ask('/chat/send-chat-message', { key, json: message }))
  const left = await ask(`/chat/chat-session/${sessionId}/resume-stream`, { key })
  await left.body!.cancel()
  agent.run.end()
  expect(await read).toEqual([delta('Once upon')])
  await here.revoke(record.id)
  expect(agent.run.readers).toBe(0)
})
