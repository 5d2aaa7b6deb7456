import { describe, expect, test } from 'vitest'
import { toUserId } from '@inlay/protocol'
import { fakeEmbedder } from '../../../knowledge/fake-embedder.ts'
import { request } from '../../../knowledge/setup.ts'
import { makeLibrary } from '../../library.ts'

const admin = '/manage/admin/cc-pair'

describe('a pair', () => {
  test('is made public and running unless said otherwise, and listed for those who may see it', async () => {
    const { call } = await makeLibrary({ now: () => Date.UTC(2026, 0, 2) })
    const plain = await call(admin, { json: { name: ' Wiki ' } })
    expect(plain).toMatchObject({ status: 200 })
    expect(plain.body).toEqual({
      id: 2,
      name: 'Wiki',
      access_type: 'public',
      users: [],
      groups: [],
      is_paused: false,
      created_at: '2026-01-02T00:00:00.000Z',
    })
    const closed = { name: 'HR', access_type: 'private', users: ['ana@example.com'], groups: ['hr'], is_paused: true }
    expect((await call(admin, { json: closed })).body).toMatchObject({ id: 3, ...closed })
    expect((await call('/manage/cc-pair')).body).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3, users: closed.users }])
    expect((await call('/manage/cc-pair', { key: 'key-importer' })).body).toMatchObject([{ id: 1 }, { id: 2 }])
  })

  test('does not tell those who share it who else does', async () => {
    const { call } = await makeLibrary()
    await call(admin, { json: { name: 'HR', access_type: 'private', users: ['importer', 'ana'], groups: ['hr'] } })
    for (const path of ['/manage/cc-pair', '/manage/indexing-status']) {
      const { body } = await call(path, { key: 'key-importer' })
      expect(body).toMatchObject([{ id: 1 }, { id: 2, access_type: 'private', users: [], groups: [] }])
    }
  })

  test('is renamed, closed, opened, paused and resumed by what a change names; the rest stays', async () => {
    const { call, knowledge } = await makeLibrary()
    await call(admin, { json: { name: 'Wiki', users: ['ana'] } })
    const change = async (json: object): Promise<unknown> => (await call(`${admin}/2`, { method: 'PATCH', json })).body
    expect(await change({ name: 'Intranet' })).toMatchObject({
      name: 'Intranet',
      users: [toUserId('ana')],
      is_paused: false,
    })
    expect(await change({ access_type: 'private', name: null })).toMatchObject({
      name: 'Intranet',
      access_type: 'private',
    })
    expect(await change({ users: [], groups: ['staff'] })).toMatchObject({ users: [], groups: ['staff'] })
    expect(await change({ is_paused: true })).toMatchObject({ is_paused: true, access_type: 'private' })
    await knowledge.accept(request({}, 2))
    await knowledge.whenIdle()
    expect(await knowledge.status('document')).toMatchObject({ phase: 'pending' })
    expect(await change({ is_paused: false })).toMatchObject({ is_paused: false })
    await knowledge.whenIdle()
    expect(await knowledge.status('document')).toMatchObject({ phase: 'indexed' })
  })

  test('takes its documents along when it is deleted, those in other pairs excepted', async () => {
    const { call, knowledge } = await makeLibrary()
    await call(admin, { json: { name: 'Wiki' } })
    await knowledge.accept(request({ id: 'alone' }, 2))
    await knowledge.accept(request({ id: 'shared' }, 2))
    await knowledge.accept(request({ id: 'shared' }, 1))
    await knowledge.whenIdle()
    expect(await call(`${admin}/2`, { method: 'DELETE' })).toMatchObject({ status: 200, body: null })
    const { body } = await call('/search', { json: { query: 'some text' } })
    expect(body).toMatchObject({ results: [{ citation_id: 1 }] })
    expect((await call('/service-api/ingestion')).body).toMatchObject([{ document_id: 'shared' }])
    expect(await call('/service-api/connector-docs/2')).toMatchObject({ status: 404 })
    expect(await call(`${admin}/2`, { method: 'DELETE' })).toMatchObject({
      status: 404,
      body: { error_code: 'CONNECTOR_NOT_FOUND' },
    })
    expect(await call(`${admin}/1`, { method: 'DELETE' })).toMatchObject({ status: 400 })
  })

  test.each([
    ['POST', admin, {}],
    ['PATCH', `${admin}/1`, {}],
    ['DELETE', `${admin}/1`, undefined],
  ])('%s %s is for administrators alone', async (method, path, json) => {
    const { call } = await makeLibrary()
    expect(await call(path, { method, json, key: 'key-importer' })).toMatchObject({ status: 403 })
  })

  test.each([
    [{}, ['body', 'name']],
    [{ name: '  ' }, ['body', 'name']],
    [{ name: 'x', access_type: 'sync' }, ['body', 'access_type']],
    [{ name: 'x', users: [''] }, ['body', 'users', '0']],
    [{ name: 'x', is_paused: 'never' }, ['body', 'is_paused']],
  ])('%j is refused at its faulty place', async (json, loc) => {
    const { call } = await makeLibrary()
    expect(await call(admin, { json })).toMatchObject({ status: 422, body: { detail: [{ loc }] } })
  })

  test('that does not exist cannot be changed, deleted or filled', async () => {
    const { call } = await makeLibrary()
    expect(await call(`${admin}/99`, { method: 'PATCH', json: {} })).toMatchObject({ status: 404 })
    expect(await call(`${admin}/99`, { method: 'DELETE' })).toMatchObject({ status: 404 })
    const document = { semantic_identifier: 'x', sections: [], metadata: {} }
    for (const cc_pair_id of [99, 9_999_999_999])
      expect(await call('/service-api/ingestion', { json: { document, cc_pair_id } })).toMatchObject({ status: 404 })
  })
})

test('the indexing status tells counts by state, the last activity, and failures with their reasons', async () => {
  const embedder = fakeEmbedder({
    answer: (texts) => {
      if (texts.some((text) => text.includes('poison'))) throw new Error('sk-secret')
    },
  })
  const { call, knowledge } = await makeLibrary({
    embedder,
    worker: { maxAttempts: 1 },
    now: () => Date.UTC(2026, 0, 2),
  })
  await call(admin, { json: { name: 'Wiki' } })
  for (const text of ['one', 'two', 'poison']) await knowledge.accept(request({ id: text, text }, 2))
  await knowledge.whenIdle()
  const { body } = await call('/manage/indexing-status', { key: 'key-importer' })
  expect(body).toMatchObject([
    {
      id: 1,
      documents: { pending: 0, indexing: 0, indexed: 0, failed: 0 },
      last_accepted_at: null,
      last_indexed_at: null,
      failures: [],
    },
    {
      id: 2,
      name: 'Wiki',
      documents: { pending: 0, indexing: 0, indexed: 2, failed: 1 },
      last_accepted_at: '2026-01-02T00:00:00.000Z',
      last_indexed_at: '2026-01-02T00:00:00.000Z',
      failures: [{ document_id: 'poison', semantic_id: 'A document', attempts: 1, reason: expect.any(String) }],
    },
  ])
  expect(JSON.stringify(body)).not.toContain('sk-secret')
})

describe.each(['/service-api', '/onyx-api'])('the documents of a pair, under %s', (prefix) => {
  const path = `${prefix}/connector-docs`

  test('come whole, with their states', async () => {
    const { call, knowledge } = await makeLibrary()
    await call(admin, { json: { name: 'Wiki', is_paused: true } })
    await knowledge.accept(request({ id: 'elsewhere' }, 1))
    await Promise.all(Array.from({ length: 2500 }, (_, at) => knowledge.accept(request({ id: `${at}` }, 2))))
    const { body, headers } = await call(`${path}/2`)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toHaveLength(2500)
    expect(body).toMatchObject(
      Array.from({ length: 2500 }, (_, at) => `${at}`)
        .toSorted()
        .map((document_id) => ({ document_id, state: 'pending', semantic_id: 'A document' })),
    )
  })

  test('come in pages when asked for, and by state', async () => {
    const { call, knowledge } = await makeLibrary()
    for (const id of ['a', 'b', 'c']) await knowledge.accept(request({ id }))
    await knowledge.whenIdle()
    const first = await call(`${path}/1?limit=2&state=indexed`)
    expect(first.body).toMatchObject([{ document_id: 'a' }, { document_id: 'b' }])
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link')!)![1]!
    const second = await call(`${path}/1${next}`)
    expect([second.body, second.headers.get('link')]).toMatchObject([[{ document_id: 'c' }], null])
    expect((await call(`${path}/1?state=failed`)).body).toEqual([])
    // 0 is the default pair, like in an ingestion request.
    expect((await call(`${path}/0`)).body).toHaveLength(3)
  })

  test('are nobody else’s to see', async () => {
    const { call } = await makeLibrary()
    await call(admin, { json: { name: 'HR', access_type: 'private' } })
    expect(await call(`${path}/2`, { key: 'key-importer' })).toMatchObject({
      status: 404,
      body: { error_code: 'CONNECTOR_NOT_FOUND' },
    })
    expect(await call(`${path}/x`)).toMatchObject({ status: 422 })
  })
})
