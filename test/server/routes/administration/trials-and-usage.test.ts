import type { FetchAddress } from '@inlay/conversations'
import { toUserId } from '@inlay/protocol'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKeys, migrateServer, type KeyTable } from '@inlay/server'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { kennelDocument } from '../../../conversations/custom-tools/kennel.ts'
import { newService } from '../../conversation.ts'

const key = 'key-operator'
const admin = { key }

test('a model is tested by one short question, and a failure is told with its reason', async () => {
  const script = [['ready'], { reject: new Error('quota is used up') }]
  const { fetchJson, setting } = await newService(script)
  expect(await fetchJson('/admin/llm/test', { key, json: {} })).toMatchObject({
    status: 200,
    body: {
      model_provider: 'scripted',
      model_version: 'script-1',
      ok: true,
      text: 'ready',
      error: null,
      error_code: null,
    },
  })
  expect(setting.model.requests[0]?.tools).toBeUndefined()
  expect(await fetchJson('/admin/llm/test', { key, json: {} })).toMatchObject({
    status: 200,
    body: { ok: false, text: null, error: 'quota is used up', error_code: 'UNKNOWN_ERROR' },
  })
  expect((await fetchJson('/admin/llm/test', { key: 'key-bob', json: {} })).status).toBe(403)
})

test('answers are counted by person and model, with the tokens of the provider', async () => {
  const finish = { finish: 'stop', usage: { input: 120, output: 30 } } as const
  const { say, fetchJson, ask } = await newService([
    ['Hello.', finish],
    ['Again.', finish],
    { reject: new Error('no') },
  ])
  const { session } = await say('Hi')
  await say('And?', { chat_session_id: session })
  await ask('/chat/send-chat-message', { key: 'key-bob', json: { message: 'Hi', stream: false } })
  const { status, body } = await fetchJson('/admin/usage?days=7', { key })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    entries: [
      {
        user_id: toUserId('alice'),
        name: 'alice',
        model_provider: 'scripted',
        model_version: 'script-1',
        answers: 2,
        failed: 0,
        counted: 2,
        input_tokens: 240,
        output_tokens: 60,
      },
      { user_id: toUserId('bob'), answers: 1, failed: 1, output_tokens: 0 },
    ],
  })
  // An erased chat is not counted any more; a hidden one is.
  await ask(`/chat/delete-chat-session/${session}`, { method: 'DELETE' })
  expect((await fetchJson('/admin/usage', { key })).body).toMatchObject({ entries: [{ answers: 2 }, { answers: 1 }] })
  expect((await fetchJson('/admin/usage', { key: 'key-bob' })).status).toBe(403)
})

test('whoever asked with a key that was revoked since is named as the key was', async () => {
  const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await migrateServer(db)
  const keys = createKeys({ db })
  const { say, fetchJson } = await newService([['Hello.']], {}, { keys })
  const { record } = await keys.create({ name: 'Reception desk', owner: 'alice', scopes: ['chat'] })
  await say('Hi')
  await keys.revoke(record.id)
  expect((await fetchJson('/admin/usage', admin)).body).toMatchObject({ entries: [{ name: 'Reception desk' }] })
  expect(await keys.list()).toEqual([])
})

test('a live key names its owner, beside a newer one that was revoked', async () => {
  const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await migrateServer(db)
  const keys = createKeys({ db })
  const { say, fetchJson } = await newService([['Hello.']], {}, { keys })
  await keys.create({ name: 'Live', email: 'live@x.org', owner: 'alice', scopes: ['chat'] })
  const { record } = await keys.create({ name: 'Lost', email: 'lost@x.org', owner: 'alice', scopes: ['chat'] })
  await keys.revoke(record.id)
  await say('Hi')
  const { body } = await fetchJson('/admin/usage', admin)
  expect(body).toMatchObject({ entries: [{ name: 'Live', email: 'live@x.org' }] })
})

test('an action is called at once, with its arguments checked', async () => {
  const requests: string[] = []
  const fetchAddress: FetchAddress = async (url) => {
    requests.push(url)
    const bytes = new TextEncoder().encode(JSON.stringify({ name: 'Rex' }))
    return { status: 200, headers: new Headers({ 'content-type': 'application/json' }), bytes }
  }
  const { fetchJson } = await newService([], { fetchAddress })
  const fields = {
    name: 'Kennel',
    description: 'Dogs',
    definition: kennelDocument(),
    custom_headers: [],
    passthrough_auth: false,
  }
  const { body: tool } = await fetchJson('/admin/tool/custom', { ...admin, json: fields })
  const { id } = tool as { id: number }
  const { body } = await fetchJson(`/admin/tool/${id}/functions`, admin)
  const { functions } = body as { functions: { name: string; parameters: { required?: string[] } }[] }
  expect(functions.length).toBeGreaterThan(1)
  const get = functions.find(({ name }) => name === 'getDog')
  expect(get?.parameters).toMatchObject({ type: 'object' })
  const call = (json: object, caller = key) => fetchJson(`/admin/tool/${id}/test`, { key: caller, json })
  expect(await call({ name: 'getDog', arguments: { dogId: '7' } })).toMatchObject({
    status: 200,
    body: { ok: true, result: expect.stringContaining('Rex') },
  })
  expect(requests).toEqual([expect.stringContaining('/dogs/7')])
  expect(await call({ name: 'getDog', arguments: {} })).toMatchObject({ status: 200, body: { ok: false } })
  expect(requests).toHaveLength(1)
  expect((await call({ name: 'unknown' })).status).toBe(400)
  expect((await call({ name: 'getDog', arguments: { dogId: '7' } }, 'key-bob')).status).toBe(403)
  expect((await fetchJson('/admin/tool/9999/test', { ...admin, json: {} })).status).toBe(404)
})
