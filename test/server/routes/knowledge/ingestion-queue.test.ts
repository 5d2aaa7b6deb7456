import { describe, expect, test } from 'vitest'
import { fakeEmbedder } from '../../../knowledge/fake-embedder.ts'
import { request } from '../../../knowledge/setup.ts'
import { makeLibrary, type Library } from '../../library.ts'

const ingestion = '/service-api/ingestion'

/** Three documents that have failed (one in a private pair), and an embedder that works from now on. */
async function makeFailures(): Promise<Library> {
  const service = { isDown: true }
  const embedder = fakeEmbedder({
    answer: () => {
      if (service.isDown) throw new Error('no')
    },
  })
  const library = await makeLibrary({ embedder, worker: { maxAttempts: 1 }, now: () => 1_000_000 })
  await library.call('/manage/admin/cc-pair', { json: { name: 'HR', access_type: 'private' } })
  await library.knowledge.accept(request({ id: 'a/b', source: 'web' }))
  await library.knowledge.accept(request({ id: 'requeue', source: 'slack' }))
  await library.knowledge.accept(request({ id: 'hidden' }, 2))
  await library.knowledge.whenIdle()
  service.isDown = false
  return library
}

describe.each(['/service-api', '/onyx-api'])('failed documents, under %s', (prefix) => {
  const importer = { key: 'key-importer', method: 'POST' }

  test('are tried again: one, whatever its id', async () => {
    const { call, knowledge } = await makeFailures()
    for (const id of ['a/b', 'requeue']) {
      const path = `${prefix}/ingestion/${encodeURIComponent(id)}`
      expect((await call(path)).body).toMatchObject({ state: 'failed', attempts: 1 })
      expect((await call(`${path}/requeue`, importer)).body).toEqual({ requeued: 1 })
      await knowledge.whenIdle()
      expect((await call(path)).body).toMatchObject({ state: 'indexed', reason: null })
      expect((await call(`${path}/requeue`, importer)).body).toEqual({ requeued: 0 })
    }
    for (const id of ['hidden', 'unknown'])
      expect(await call(`${prefix}/ingestion/${id}/requeue`, importer)).toMatchObject({ status: 404 })
  })

  test('are tried again: all that the caller may see, or those of a pair or source', async () => {
    const { call } = await makeFailures()
    expect((await call(`${prefix}/ingestion/requeue?source=web`, importer)).body).toEqual({ requeued: 1 })
    expect((await call(`${prefix}/ingestion/requeue?cc_pair_id=2`, importer)).body).toEqual({ requeued: 0 })
    expect((await call(`${prefix}/ingestion/requeue`, importer)).body).toEqual({ requeued: 1 })
    expect((await call(`${prefix}/ingestion/requeue`, { method: 'POST' })).body).toEqual({ requeued: 1 })
    expect((await call(`${prefix}/ingestion/requeue?source=nowhere`, importer)).status).toBe(422)
  })
})

test('metadata of a document is changed by those who may ingest into its pair', async () => {
  const { call, knowledge } = await makeLibrary()
  await knowledge.accept(request({ id: 'a/b', metadata: { team: 'red', draft: 'yes' } }))
  await knowledge.whenIdle()
  const importer = { key: 'key-importer', method: 'PATCH' }
  const path = `/service-api/ingestion/${encodeURIComponent('a/b')}`
  const changed = await call(path, { ...importer, json: { metadata: { team: ['blue', 'green'], draft: null } } })
  expect(changed).toMatchObject({ status: 200, body: { document_id: 'a/b', already_existed: true } })
  await knowledge.whenIdle()
  expect((await call('/service-api/ingestion?details=true')).body).toMatchObject([
    {
      details: {
        tags: [
          { tag_key: 'team', tag_value: 'blue' },
          { tag_key: 'team', tag_value: 'green' },
        ],
      },
    },
  ])
  for (const metadata of [undefined, { team: 7 }, { team: { a: 'b' } }])
    expect(await call(path, { ...importer, json: { metadata } })).toMatchObject({ status: 422 })
  const unknown = await call('/service-api/ingestion/none', { ...importer, json: { metadata: {} } })
  expect(unknown).toMatchObject({ status: 404, body: { error_code: 'DOCUMENT_NOT_FOUND' } })
  expect(await call(path, { key: 'key-alice', method: 'PATCH', json: { metadata: {} } })).toMatchObject({
    status: 403,
  })
})

test('figures tell the queue, its age, failures and the index, to administrators alone', async () => {
  const clock = { now: 1_000_000 }
  const { call, knowledge } = await makeLibrary({ now: () => clock.now })
  await call('/manage/admin/cc-pair', { json: { name: 'slow', is_paused: true } })
  await knowledge.accept(request({ id: 'a' }))
  await knowledge.accept(request({ id: 'b' }, 2))
  await knowledge.whenIdle()
  clock.now += 2500
  await knowledge.accept(request({ id: 'c' }, 2))
  expect((await call('/service-api/ingestion-figures')).body).toEqual({
    documents: { pending: 2, indexing: 0, indexed: 1, failed: 0 },
    queue_depth: 2,
    oldest_waiting_seconds: 2.5,
    index: { rows: 1, unindexed_rows: 0, bytes: null },
    embedder: { recorded: null, configured: null, is_used: true, indexes: true },
    rebuild: null,
  })
  expect(await call('/service-api/ingestion-figures', { key: 'key-importer' })).toMatchObject({ status: 403 })
})

test('an administrator has the documents indexed again, or changes their embedding model', async () => {
  const { call, knowledge } = await makeLibrary()
  await knowledge.accept(request({ id: 'a' }))
  await knowledge.whenIdle()
  const embedder = { recorded: null, configured: null, is_used: true, indexes: true }
  expect(await call('/service-api/ingestion-reindex', { json: {} })).toMatchObject({
    status: 200,
    body: { documents: 1, embedder },
  })
  expect((await call('/service-api/ingestion-figures')).body).toMatchObject({
    rebuild: { reason: 'requested', documents: 1 },
  })
  await knowledge.whenIdle()
  expect((await call('/service-api/ingestion-figures')).body).toMatchObject({ rebuild: null })
  // The documents have the embedding model of this process already: there is nothing to do.
  expect(await call('/service-api/ingestion-reindex', { json: { change_embedder: true } })).toMatchObject({
    status: 200,
    body: { documents: 0, embedder },
  })
  expect(await call('/service-api/ingestion-reindex', { json: {}, key: 'key-importer' })).toMatchObject({ status: 403 })
})

test.each(['/api', ''])(
  'a listing leads on from wherever it is mounted: "%s" and behind a rewriting proxy',
  async (base) => {
    const { server, knowledge } = await makeLibrary()
    for (const id of ['a', 'b & c', 'd/e']) await knowledge.accept(request({ id, source: 'web' }))
    // The request of a client, and the input of the handler.
    const [outside, inside] = ['https://example.com/tools/assistant/v1', `http://127.0.0.1:3000${base}`]
    let address: string | null = `${outside}${ingestion}?limit=1&source=web`
    const seen: unknown[] = []
    while (address !== null) {
      const response: Response = await server.fetch(
        new Request(address.replace(outside, inside), { headers: { authorization: 'Bearer key-operator' } }),
      )
      seen.push(...((await response.json()) as unknown[]))
      const next = /^<([^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      address = next === undefined ? null : new URL(next, address).href
      expect(address === null || address.startsWith(`${outside}${ingestion}?`)).toBe(true)
    }
    expect(seen).toMatchObject([{ document_id: 'a' }, { document_id: 'b & c' }, { document_id: 'd/e' }])
  },
)
