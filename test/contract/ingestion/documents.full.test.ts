import { afterAll, beforeAll, expect, test } from 'vitest'
import { heron, startService, type Service } from '../service.ts'

let service: Service
beforeAll(async () => void (service = await startService()))
afterAll(async () => {
  await service.close()
  expect(service.errors).toEqual([])
})

const sources =
  'ingestion_api slack web google_drive gmail github gitbook gitlab guru bookstack outline confluence jira slab productboard file coda canvas notion zulip linear hubspot document360 gong google_sites zendesk loopio box dropbox sharepoint teams salesforce discourse axero clickup mediawiki wikipedia asana s3 r2 google_cloud_storage oci_storage xenforo not_applicable discord freshdesk fireflies egnyte airtable highspot drupal_wiki imap bitbucket testrail braintrust lumapps mock_connector user_file craft_file'.split(
    ' ',
  )

test('a document of every source is accepted, and its source is told by each hit', async () => {
  const lines = sources.map((source) => JSON.stringify({ document: heron(source, { source }) }))
  const batch = await service.call('POST', '/service-api/ingestion/batch', lines.join('\n'), {
    'content-type': 'application/x-ndjson',
  })
  const answers = batch.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers).toEqual(
    sources.map((source, at) => ({ line: at + 1, status: 200, document_id: source, already_existed: false })),
  )
  await service.ingest(heron('last'))
  const indexed = async (): Promise<unknown> => (await service.call('GET', '/manage/indexed-sources')).json
  await expect.poll(indexed).toEqual({ sources: sources.toSorted() })
})

test('both addresses of ingestion are one, and a repeat says that the document was there', async () => {
  const first = await service.ingest(heron('twin'))
  expect([first.status, first.json]).toEqual([200, { document_id: 'twin', already_existed: false }])
  const again = await service.call('POST', '/onyx-api/ingestion', { document: heron('twin') })
  expect(again.json).toEqual({ document_id: 'twin', already_existed: true })
  expect((await service.call('DELETE', '/onyx-api/ingestion/twin')).text).toBe('null')
  expect((await service.ingest(heron('twin'))).json.already_existed).toBe(false)
})

test('no pair, null and 0 all name the first pair', async () => {
  for (const cc_pair_id of [undefined, null, 0]) {
    await service.call(
      'POST',
      '/service-api/ingestion',
      { document: heron('paired'), cc_pair_id },
      { prefer: 'wait=60' },
    )
    const { json } = await service.call('GET', '/service-api/ingestion/paired')
    expect(json).toMatchObject({ state: 'indexed', cc_pair_ids: [1] })
  }
})

test('the state of a document has its nine fields, and a listing three, its date and its state', async () => {
  await service.ingest(heron('state'))
  const { json: state } = await service.call('GET', '/service-api/ingestion/state')
  const fields = 'document_id state reason attempts next_try_at accepted_at indexed_at chunk_count cc_pair_ids'
  expect(Object.keys(state)).toEqual(expect.arrayContaining(fields.split(' ')))
  expect((await service.call('GET', '/service-api/ingestion?document_id=state')).json).toHaveLength(1)
  expect((await service.call('GET', '/service-api/ingestion?document_id=stat')).json).toEqual([])
  for (const path of ['/service-api/ingestion?limit=1', '/service-api/connector-docs/1']) {
    const { json } = await service.call('GET', path)
    expect(Object.keys(json[0]).slice(0, 3), path).toEqual(['document_id', 'semantic_id', 'link'])
  }
})

test.each([
  ['text of nothing', [{ text: '' }], 200],
  ['no sections', [], 200],
  ['a named type', [{ type: 'text', text: 'a' }], 200],
  ['a heading', [{ text: 'a', heading: 'H' }], 200],
  ['a link of null', [{ text: 'a', link: null }], 200],
  ['nothing', [{}], 422],
  ['a link alone', [{ link: 'https://birds.example' }], 422],
  ['an unknown image', [{ image_file_id: 'nope' }], 422],
  ['an unknown table', [{ csv_file_id: 'nope', link: 'l' }], 422],
])('a section with %s', async (_what, sections, status) => {
  expect((await service.ingest(heron('sections', { sections }))).status).toBe(status)
})

test.each(
  Object.entries({
    title: null,
    doc_updated_at: '2026-01-01T00:00:00',
    doc_created_at: '2026-01-01T00:00:00Z',
    primary_owners: [{ display_name: 'A', email: null }],
    secondary_owners: null,
    from_ingestion_api: true,
    chunk_count: 7,
    additional_info: { a: 1 },
    external_access: {},
    doc_metadata: 1,
    a_field_of_tomorrow: 1,
    source: null,
    file_id: null,
  }),
)('the field %s is accepted', async (field, value) => {
  const body = { document: heron('fields', { [field]: value }) }
  expect((await service.call('POST', '/service-api/ingestion', body)).status).toBe(200)
})

test('an id that is not given is made of what the document is, so that a repeat is an update', async () => {
  const { id: _id, ...document } = heron('unnamed') as { id: string }
  const { json: first } = await service.ingest(document)
  expect(first.document_id).toMatch(/^ingestion_api_/)
  expect((await service.ingest({ ...document, id: '' })).json).toEqual({ ...first, already_existed: true })
})

test('an id is kept to the letter, and encoded once in an address', async () => {
  const id = 'https://a.b/c d?x=é#%2F'
  expect((await service.ingest(heron(id))).json.document_id).toBe(id)
  expect((await service.call('GET', `/service-api/ingestion/${encodeURIComponent(id)}`)).json.document_id).toBe(id)
  expect((await service.call('DELETE', `/service-api/ingestion/${encodeURIComponent(id)}`)).status).toBe(200)
})

test('a hit has six fields, and what is written in a text is found as it was written', async () => {
  await service.ingest(heron('curly', { sections: [{ text: 'Say “curlew” – 🦀 \u0000loudly.' }] }))
  const { json } = await service.call('POST', '/search', { query: 'curlew' })
  expect(Object.keys(json.results[0])).toEqual(['citation_id', 'title', 'content', 'link', 'source_type', 'updated_at'])
  expect(json.results[0].content).toContain('“curlew” – 🦀 loudly')
})

test('tags are told with key, value and source', async () => {
  await service.ingest(heron('tagged', { metadata: { marsh: 'north' } }))
  const { json } = await service.call('GET', '/query/valid-tags?match_pattern=mar')
  expect(json.tags).toContainEqual({ tag_key: 'marsh', tag_value: 'north', source: 'web' })
})

test('a document is taken out of one pair and stays in the other, and cannot lose its last one', async () => {
  const body = { name: 'Board', access_type: 'private', groups: ['board'] }
  const { id: board } = (await service.call('POST', '/manage/admin/cc-pair', body)).json
  await service.ingest(heron('moved'))
  const path = '/service-api/ingestion/moved'
  const moved = await service.call('PATCH', path, { cc_pair_ids: [board] })
  expect([moved.status, moved.json]).toEqual([200, { document_id: 'moved', already_existed: true }])
  expect((await service.call('GET', path)).json.cc_pair_ids).toEqual([board])
  expect((await service.call('GET', '/service-api/ingestion?cc_pair_id=1&document_id=moved')).json).toEqual([])
  for (const refused of [{}, { cc_pair_ids: [] }, { cc_pair_ids: [board], pairs: [1] }])
    expect((await service.call('PATCH', path, refused)).status).toBe(422)
  expect((await service.call('PATCH', path, { cc_pair_ids: [9999] })).json.error_code).toBe('CONNECTOR_NOT_FOUND')
})
