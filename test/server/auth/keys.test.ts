import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKeys, migrateServer, type KeysOptions, type KeyTable } from '@inlay/server'
import { Kysely, type KyselyPlugin } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { toUserId, type Scope } from '@inlay/protocol'
import { setup } from '../fakes.ts'

let db: Kysely<KeyTable>
let time: number

beforeEach(async () => {
  db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  time = Date.UTC(2026, 0, 2)
  await migrateServer(db)
})

afterEach(() => db.destroy())

const keysOf = (options: Partial<KeysOptions> = {}): ReturnType<typeof createKeys> =>
  createKeys({ db, now: () => time, elapsed: () => time, ...options })

const bearing = (key: string): Request =>
  new Request('http://host.example/', { headers: { authorization: `Bearer ${key}` } })

type Keys = ReturnType<typeof createKeys>

/** Holds back the answer to the first query. */
function heldFirstLook() {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let looks = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (++looks === 1) {
        begun.resolve()
        await ended.promise
      }
      return result
    },
  }
  return { plugin, begun: begun.promise, end: ended.resolve }
}

describe('a key', () => {
  test('is random, shown once and stored as a hash', async () => {
    const keys = keysOf()
    const { key, record } = await keys.create({ name: 'importer', scopes: ['ingest'] })
    const other = await keys.create({ scopes: ['ingest'] })
    expect(key).toMatch(/^inlay_[\w-]{43}$/)
    expect(other.key).not.toBe(key)
    expect(JSON.stringify(await db.selectFrom('inlay_api_key').selectAll().execute())).not.toContain(key.slice(10, 40))
    expect(record).toMatchObject({ id: 1, name: 'importer', scopes: ['ingest'], createdAt: time, lastUsedAt: null })
    expect(record.display).toBe(`${key.slice(0, 10)}********${key.slice(-4)}`)
    expect(record.owner).not.toBe(other.record.owner)
  })

  test('acts for its owner, with its scopes and groups', async () => {
    const keys = keysOf()
    const { key } = await keys.create({ scopes: ['chat'], owner: 'ann', email: 'ann@x.example', groups: ['staff'] })
    expect(await keys.authenticate(bearing(key))).toEqual({
      id: 'ann',
      email: 'ann@x.example',
      scopes: ['chat'],
      groups: ['staff'],
    })
  })

  test.each(['', 'x', 'inlay_', `inlay_${'a'.repeat(43)}`])('%j is nobody', async (key) => {
    const keys = keysOf()
    await keys.create({ scopes: ['chat'] })
    expect(await keys.authenticate(bearing(key))).toBeUndefined()
  })

  test.each([['Basic abc'], ['Bearer'], ['Bearer a b'], ['KEY'], ['Token KEY']])(
    'in the form %j is none',
    async (form) => {
      const keys = keysOf()
      const { key } = await keys.create({ scopes: ['chat'] })
      const request = new Request('http://h.example/', { headers: { authorization: form.replace('KEY', key) } })
      expect(await keys.authenticate(request)).toBeUndefined()
      expect(await keys.authenticate(new Request('http://h.example/'))).toBeUndefined()
    },
  )

  test('that is revoked ends at once, here and for who remembers it elsewhere after a moment', async () => {
    const keys = keysOf({ cacheMs: 1000 })
    const elsewhere = keysOf({ cacheMs: 1000 })
    const { key, record } = await keys.create({ scopes: ['chat'] })
    expect(await keys.principalOf(key)).toBeDefined()
    expect(await elsewhere.principalOf(key)).toBeDefined()
    await keys.revoke(record.id)
    expect(await keys.principalOf(key)).toBeUndefined()
    time += 1000
    expect(await elsewhere.principalOf(key)).toBeUndefined()
    expect(await keys.list()).toEqual([])
    await expect(keys.revoke(record.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('that is revoked while it is looked up is not remembered', async () => {
    const keys = keysOf({ cacheMs: 1000 })
    const { key, record } = await keys.create({ scopes: ['chat'] })
    const lookups = Promise.all(Array.from({ length: 20 }, () => keys.principalOf(key)))
    await keys.revoke(record.id)
    await lookups
    expect(await keys.principalOf(key)).toBeUndefined()
  })

  test('that is revoked elsewhere ends after a moment, also when the time of day is set back', async () => {
    let elapsed = 0
    const keys = keysOf({ cacheMs: 1000, elapsed: () => elapsed })
    const elsewhere = keysOf({ cacheMs: 1000, elapsed: () => elapsed })
    const { key, record } = await keys.create({ scopes: ['chat'] })
    await elsewhere.principalOf(key)
    await keys.revoke(record.id)
    time -= 3_600_000
    elapsed += 1000
    expect(await elsewhere.principalOf(key)).toBeUndefined()
  })

  test('so it does by the clock of the process', async () => {
    const keys = createKeys({ db, cacheMs: 20 })
    const elsewhere = createKeys({ db, cacheMs: 20 })
    const { key, record } = await keys.create({ scopes: ['chat'] })
    await elsewhere.principalOf(key)
    await keys.revoke(record.id)
    const anHourAgo = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000)
    onTestFinished(() => anHourAgo.mockRestore())
    await expect.poll(() => elsewhere.principalOf(key)).toBeUndefined()
  })

  test('that is replaced keeps owner and scopes', async () => {
    const keys = keysOf()
    const created = await keys.create({ scopes: ['chat'], owner: 'ann' })
    const replaced = await keys.regenerate(created.record.id)
    expect(await keys.principalOf(created.key)).toBeUndefined()
    expect(await keys.principalOf(replaced.key)).toMatchObject({ id: 'ann', scopes: ['chat'] })
    await expect(keys.regenerate(99)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('can be changed, at once', async () => {
    const keys = keysOf()
    const { key, record } = await keys.create({ scopes: ['chat'] })
    await keys.principalOf(key)
    expect(await keys.change(record.id, { name: 'new', scopes: ['ingest', 'search'] })).toMatchObject({
      name: 'new',
      scopes: ['search', 'ingest'],
    })
    expect((await keys.principalOf(key))?.scopes).toEqual(['search', 'ingest'])
    await expect(keys.change(99, { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test.each([
    ['changed', async (keys: Keys, id: number) => void (await keys.change(id, { scopes: ['ingest'] })), ['ingest']],
    ['revoked', (keys: Keys, id: number) => keys.revoke(id), undefined],
  ])('that is %s while it is looked up is looked up anew by later requests', async (_, change, scopes) => {
    const { key, record } = await keysOf().create({ scopes: ['chat'] })
    const look = heldFirstLook()
    const keys = keysOf({ db: db.withPlugin(look.plugin) })
    const before = keys.principalOf(key)
    await look.begun
    await change(keys, record.id)
    // One that begins now does not share the look at the state before.
    expect((await keys.principalOf(key))?.scopes).toEqual(scopes)
    look.end()
    expect((await before)?.scopes).toEqual(['chat'])
    expect((await keys.principalOf(key))?.scopes).toEqual(scopes)
    await keys.close()
  })

  test('needs a scope that exists', async () => {
    const keys = keysOf()
    await expect(keys.create({ scopes: [] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    // From JavaScript, or a command line.
    await expect(keys.create({ scopes: ['root' as Scope] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('notes its last use to the minute, without a write for each request', async () => {
    const keys = keysOf({ cacheMs: 0 })
    const { key } = await keys.create({ scopes: ['chat'] })
    await keys.principalOf(key)
    await keys.close()
    expect((await keys.list())[0]?.lastUsedAt).toBe(time)
    const first = time
    time += 30_000
    await keys.principalOf(key)
    await keys.close()
    expect((await keys.list())[0]?.lastUsedAt).toBe(first)
    time += 30_000
    await keys.principalOf(key)
    await keys.close()
    expect((await keys.list())[0]?.lastUsedAt).toBe(time)
  })
})

test('ids are never given twice, also when many are made at once', async () => {
  const keys = keysOf()
  const created = await Promise.all(Array.from({ length: 4 }, () => keys.create({ scopes: ['chat'] })))
  expect(new Set(created.map(({ record }) => record.id)).size).toBe(4)
  await keys.revoke(Math.max(...created.map(({ record }) => record.id)))
  expect((await keys.create({ scopes: ['chat'] })).record.id).toBe(5)
})

test('migrating again changes nothing', async () => {
  const keys = keysOf()
  await keys.create({ scopes: ['chat'] })
  await migrateServer(db)
  expect(await keys.list()).toHaveLength(1)
})

describe('administration', () => {
  test('makes, lists, changes, replaces and revokes; the key itself is in one answer only', async () => {
    const keys = keysOf()
    const { ask } = setup({ keys })
    const key = 'key-operator'
    const created = (await (
      await ask('/admin/api-key', { key, json: { name: 'ci', scopes: ['ingest'], owner: 'ci' } })
    ).json()) as Record<string, unknown>
    expect(created).toMatchObject({
      api_key_id: 1,
      api_key_name: 'ci',
      user_id: toUserId('ci'),
      scopes: ['ingest'],
      groups: [],
    })
    expect(await keys.principalOf(String(created['api_key']))).toMatchObject({ id: 'ci' })
    expect(await (await ask('/admin/api-key', { key })).json()).toEqual([
      expect.objectContaining({ api_key_id: 1, api_key: null }),
    ])
    const changed = await ask('/admin/api-key/1', { key, method: 'PATCH', json: { name: null } })
    expect(await changed.json()).toMatchObject({ api_key_name: null, scopes: ['ingest'], api_key: null })
    const replaced = (await (await ask('/admin/api-key/1/regenerate', { key, method: 'POST' })).json()) as {
      api_key: string
    }
    expect(await keys.principalOf(String(created['api_key']))).toBeUndefined()
    expect(await keys.principalOf(replaced.api_key)).toBeDefined()
    const revoked = await ask('/admin/api-key/1', { key, method: 'DELETE' })
    expect([revoked.status, await revoked.json()]).toEqual([200, null])
    expect((await ask('/admin/api-key/1', { key, method: 'DELETE' })).status).toBe(404)
  })

  test('refuses groups by number with a reason, where dropping them would change what a key may do', async () => {
    const keys = keysOf()
    const { ask } = setup({ keys })
    const refusal = { error_code: 'INVALID_INPUT', detail: expect.stringContaining('no numeric ids') }
    const created = await ask('/admin/api-key', { key: 'key-operator', json: { group_ids: [1] } })
    expect([created.status, await created.json()]).toMatchObject([400, refusal])
    expect(await keys.list()).toEqual([])
    await keys.create({ scopes: ['chat'] })
    const changed = await ask('/admin/api-key/1', { key: 'key-operator', method: 'PATCH', json: { group_ids: [1] } })
    expect([changed.status, await changed.json()]).toMatchObject([400, refusal])
  })

  test('a key carries the framing of its streams, for callers whose Accept says nothing', async () => {
    const keys = keysOf()
    const { ask, agent } = setup({ keys, authenticate: (request) => keys.authenticate(request) })
    agent.run.say({ user_message_id: 1, reserved_assistant_message_id: 2 })
    agent.run.end()
    const create = async (streamFormat: 'lines' | 'sse' | null): Promise<string> =>
      (await keys.create({ scopes: ['chat'], streamFormat })).key
    const firstOf = async (key: string, accept: string | null): Promise<string> => {
      const headers: Record<string, string> = accept === null ? {} : { accept }
      const response = await ask('/chat/send-chat-message', { key, headers, json: { message: 'x' } })
      return (await response.text()).slice(0, 5)
    }
    const lines = await create('lines')
    expect(await firstOf(lines, '*/*')).toBe('{"use')
    expect(await firstOf(lines, null)).toBe('{"use')
    expect(await firstOf(lines, 'text/event-stream')).toBe('id: 1')
    expect(await firstOf(await create('sse'), 'application/x-ndjson')).toBe('{"use')
    expect(await firstOf(await create(null), '*/*')).toBe('id: 1')
    const admin = (await keys.create({ scopes: ['admin'] })).key
    const json = { name: 'widget', stream_format: 'lines' }
    const created = (await (await ask('/admin/api-key', { key: admin, json })).json()) as { api_key_id: number }
    expect(created).toMatchObject({ stream_format: 'lines' })
    const changed = await ask(`/admin/api-key/${created.api_key_id}`, {
      key: admin,
      method: 'PATCH',
      json: { stream_format: null },
    })
    expect(await changed.json()).toMatchObject({ stream_format: null, api_key_name: 'widget' })
  })

  test('without scopes a key may chat, as the shortest request of existing clients expects', async () => {
    const { ask } = setup({ keys: keysOf() })
    const created = await ask('/admin/api-key', { key: 'key-operator', json: { name: null, group_ids: [] } })
    expect(await created.json()).toMatchObject({ scopes: ['chat'] })
  })

  test('is for administrators, and told to be missing where a host brings its own users', async () => {
    expect((await setup({ keys: keysOf() }).ask('/admin/api-key')).status).toBe(403)
    const response = await setup().ask('/admin/api-key', { key: 'key-operator' })
    expect([response.status, await response.json()]).toMatchObject([501, { error_code: 'NOT_IMPLEMENTED' }])
  })

  test.each([{ scopes: [] }, { scopes: ['root'] }, { owner: '' }, { name: 7 }])(
    '%j is a validation error',
    async (json) => {
      expect((await setup({ keys: keysOf() }).ask('/admin/api-key', { key: 'key-operator', json })).status).toBe(422)
    },
  )
})
