import { onTestFinished, describe, expect, test } from 'vitest'
import { Kysely } from 'kysely'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKeys, migrateServer, type KeyTable } from '@inlay/server'
import { makeKnowledge } from '../../knowledge/setup.ts'
import { newService } from '../conversation.ts'
import { setup } from '../fakes.ts'
import { makeLibrary } from '../library.ts'
import { personaBody } from '../persona-body.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

async function idOf(service: Pick<Awaited<ReturnType<typeof newService>>, 'ask'>, key: string): Promise<string> {
  const { id } = (await (await service.ask('/me', { key })).json()) as { id: string }
  return id
}

describe('ids of people', () => {
  test('are UUIDs wherever they are told: the caller, owners, files, projects, agents', async () => {
    const { knowledge } = await makeKnowledge()
    const service = await newService([], {}, { knowledge })
    const alice = await idOf(service, 'key-alice')
    expect(alice).toMatch(uuid)
    expect(await idOf(service, 'key-bob')).not.toBe(alice)
    const project = await service.fetchJson('/user/projects/create?name=a', { method: 'POST' })
    expect(project.body).toMatchObject({ user_id: alice })
    const agent = await service.fetchJson('/persona', {
      json: { ...personaBody, users: ['bob'] },
    })
    expect(agent.body).toMatchObject({ owner: { id: alice }, users: [{ id: await idOf(service, 'key-bob') }] })
  })

  test('open what names them: a private pair that lists the id from /me is searched', async () => {
    const library = await makeLibrary()
    const alice = await idOf(library, 'key-alice')
    const pair = { name: 'HR', access_type: 'private', users: [alice] }
    expect((await library.call('/manage/admin/cc-pair', { json: pair })).body).toMatchObject({ users: [alice] })
    await library.call('/manage/admin/document-set', { json: { name: 'hr', cc_pair_ids: [2], is_public: false } })
    const change = { json: { users: [alice] }, method: 'PATCH' }
    await library.call('/manage/admin/document-set/1', change)
    const search = async (key: string): Promise<number> =>
      (await library.ask('/search', { key, json: { query: 'x', document_sets: ['hr'] } })).status
    expect([await search('key-alice'), await search('key-bob')]).toEqual([200, 403])
  })

  test('name the owner of a new key as /me does', async () => {
    const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
    onTestFinished(() => db.destroy())
    await migrateServer(db)
    const keys = createKeys({ db })
    const { ask } = setup({ keys })
    const make = async (json: object): Promise<{ user_id: string; api_key_id: number }> =>
      (await (await ask('/admin/api-key', { key: 'key-operator', json })).json()) as never
    const named = await make({ owner: 'ci' })
    expect(named.user_id).toMatch(uuid)
    await make({ owner: named.user_id })
    const unnamed = await make({})
    await make({ owner: unnamed.user_id })
    const owners = (await keys.list()).map(({ owner }) => owner)
    expect(owners.slice(0, 2)).toEqual(['ci', 'ci'])
    expect(owners[3]).toBe(owners[2])
  })
})
