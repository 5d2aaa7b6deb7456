import { describe, expect, test } from 'vitest'
import { request } from '../../../knowledge/setup.ts'
import { makeLibrary } from '../../library.ts'

const admin = '/manage/admin/document-set'
const alice = { key: 'key-alice' }

describe('a document set', () => {
  test('is listed as clients know it, with the pairs in it', async () => {
    const { call } = await makeLibrary()
    await call('/manage/admin/cc-pair', { json: { name: 'Wiki', access_type: 'private', users: ['alice'] } })
    const made = await call(admin, { json: { name: 'Handbook', description: 'For all', cc_pair_ids: [2, 1, 2] } })
    expect(made.body).toEqual({
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
      permissions: { edit: true, delete: true },
      federated_connector_summaries: [],
    })
    expect((await call('/manage/document-set')).body).toEqual([made.body])
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
    await knowledge.accept(request(), { waitMs: 5000 })
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
