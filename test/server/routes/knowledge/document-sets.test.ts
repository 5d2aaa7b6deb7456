import { describe, expect, test } from 'vitest'
import { request } from '../../../knowledge/setup.ts'
import { makeLibrary } from '../../library.ts'

const admin = '/manage/admin/document-set'
const alice = { key: 'key-alice' }

describe('a document set', () => {
  test('is listed as clients know it, with the pairs in it', async () => {
    const { call } = await makeLibrary()
    await call('/manage/admin/cc-pair', { json: { name: 'Wiki', access_type: 'private', users: ['alice'] } })
    const json = { name: 'Handbook', description: 'For all', cc_pair_ids: [2, 1, 2] }
    expect((await call(admin, { json })).body).toBe(1)
    expect((await call('/manage/document-set')).body).toEqual([
      {
        id: 1,
        name: 'Handbook',
        description: 'For all',
        cc_pair_summaries: [
          { id: 1, name: 'Default', source: 'ingestion_api', access_type: 'public' },
          { id: 2, name: 'Wiki', source: 'ingestion_api', access_type: 'private' },
        ],
        is_up_to_date: true,
        is_public: true,
        users: [],
        groups: [],
        permissions: { edit: true, manage_access: true, delete: true, publish: true },
        federated_connector_summaries: [],
      },
    ])
  })

  test('shows callers what they may see: sets, pairs in them, and not who else may', async () => {
    const { call } = await makeLibrary()
    await call('/manage/admin/cc-pair', { json: { name: 'Secret project', access_type: 'private' } })
    await call(admin, { json: { name: 'b', cc_pair_ids: [1, 2], users: ['alice', 'carol'] } })
    await call(admin, { json: { name: 'a', is_public: false, users: ['alice', 'carol'], groups: ['staff'] } })
    expect((await call('/manage/document-set', alice)).body).toMatchObject([
      { name: 'a', is_public: false, users: [], groups: [], permissions: { edit: false } },
      { name: 'b', cc_pair_summaries: [{ id: 1 }], users: [] },
    ])
    expect((await call('/manage/document-set', { key: 'key-bob' })).body).toMatchObject([{ name: 'b' }])
    expect((await call('/manage/document-set', { key: 'key-importer' })).body).toMatchObject([{ name: 'b' }])
  })

  test('binds at the next search: changed, closed and deleted', async () => {
    const { call, knowledge } = await makeLibrary()
    await knowledge.accept(request(), { waitMs: 60_000 })
    await call(admin, { json: { name: 'all', cc_pair_ids: [1] } })
    const search = async (): Promise<unknown> =>
      (await call('/search', { ...alice, json: { query: 'some', document_sets: ['all'] } })).body
    const change = (json: object): Promise<unknown> => call(`${admin}/1`, { method: 'PATCH', json })
    expect(await search()).toMatchObject({ results: [{ citation_id: 1 }] })
    await change({ cc_pair_ids: [], description: 'now empty' })
    expect(await search()).toEqual({ results: [] })
    await change({ cc_pair_ids: [1], is_public: false })
    expect(await search()).toMatchObject({ error_code: 'INSUFFICIENT_PERMISSIONS' })
    await change({ users: ['alice'], name: null })
    expect(await search()).toMatchObject({ results: [{ citation_id: 1 }] })
    expect(await call(`${admin}/1`, { method: 'DELETE' })).toMatchObject({ status: 200, body: null })
    expect(await search()).toMatchObject({ error_code: 'INSUFFICIENT_PERMISSIONS' })
    expect(await call(`${admin}/1`, { method: 'DELETE' })).toMatchObject({ status: 404 })
  })

  test('is made and changed as existing clients do: the answer is the bare id, a change names it in the body', async () => {
    const { call } = await makeLibrary()
    const all = { description: '', cc_pair_ids: [1], is_public: true, users: [], groups: [], federated_connectors: [] }
    expect(await call(admin, { json: { name: 'a', ...all } })).toMatchObject({ status: 200, body: 1 })
    const change = async (json: object): Promise<object> => call(admin, { method: 'PATCH', json })
    expect(await change({ id: 1, ...all, description: 'new', is_public: false })).toMatchObject({
      status: 200,
      body: null,
    })
    expect((await call('/manage/document-set')).body).toMatchObject([
      { name: 'a', description: 'new', is_public: false },
    ])
    expect(await change({ id: 7, ...all })).toMatchObject({
      status: 404,
      body: { error_code: 'DOCUMENT_SET_NOT_FOUND' },
    })
    expect(await change(all)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'id'], type: 'missing' }] },
    })
  })

  test('refuses with a reason what it cannot hold: groups by number, connectors of other services', async () => {
    const { call } = await makeLibrary()
    expect(await call(admin, { json: { name: 'a', groups: [3] } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'groups', '0'], msg: expect.stringContaining('no numbers') }] },
    })
    const federated = [{ federated_connector_id: 1, entities: {} }]
    expect(await call(admin, { json: { name: 'a', federated_connectors: federated } })).toMatchObject({
      status: 403,
      body: { error_code: 'DEPLOYMENT_UNSUPPORTED' },
    })
  })

  test('is listed as editable to administrators alone', async () => {
    const { call } = await makeLibrary()
    await call(admin, { json: { name: 'a' } })
    const editable = '/manage/document-set?get_editable=true'
    expect((await call(editable)).body).toMatchObject([{ name: 'a' }])
    expect((await call(editable, alice)).body).toEqual([])
  })

  test('has a name of its own, and pairs that exist', async () => {
    const { call } = await makeLibrary()
    await call(admin, { json: { name: 'a' } })
    await call(admin, { json: { name: 'b' } })
    expect(await call(admin, { json: { name: 'a' } })).toMatchObject({ status: 409 })
    expect(await call(`${admin}/2`, { method: 'PATCH', json: { name: 'a' } })).toMatchObject({ status: 409 })
    expect(await call(admin, { json: { name: 'c', cc_pair_ids: [7] } })).toMatchObject({ status: 404 })
    expect(await call(`${admin}/9`, { method: 'PATCH', json: {} })).toMatchObject({
      status: 404,
      body: { error_code: 'DOCUMENT_SET_NOT_FOUND' },
    })
  })

  test.each([
    ['POST', admin, {}],
    ['PATCH', `${admin}/1`, {}],
    ['DELETE', `${admin}/1`, undefined],
  ])('%s %s is for administrators alone', async (method, path, json) => {
    const { call } = await makeLibrary()
    for (const key of ['key-importer', 'key-alice'])
      expect(await call(path, { method, json, key })).toMatchObject({ status: 403 })
  })
})
