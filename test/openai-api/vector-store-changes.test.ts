import { scriptedModel } from '@inlay/agent/testing'
import fc from 'fast-check'
import { toFile } from 'openai'
import { expect, test } from 'vitest'
import { scripted } from '../life/serve.ts'
import { apiKey, openAssistant } from './setting.ts'

const pollIntervalMs = 10
const leave = (): Promise<File> => toFile(Buffer.from('# Leave\n\nEmployees get 25 days of leave a year.'), 'leave.md')
const callers = { 'Bearer ana': 'ana', 'Bearer ben': 'ben' } as const

/** An assistant that several people use by the keys `ana` and `ben`. */
function openForTwo() {
  const assistant = openAssistant({
    authenticate: (request) => {
      const id = Object.entries(callers).find(([header]) => header === request.headers.get('authorization'))?.[1]
      return id === undefined ? undefined : { id, scopes: ['chat', 'search', 'ingest'] }
    },
  })
  const as = (apiKey: string) => assistant.clientAt('http://inlay.test/v1', { apiKey })
  return { ...assistant, ana: as('ana'), ben: as('ben') }
}

test('a store is deleted while everybody is under a legal hold, which keeps no documents', async () => {
  const { client, inlay } = openAssistant()
  const { id } = await client.vectorStores.create({ name: 'HR' })
  await inlay.holds.place({ person: null, reason: '' })
  expect(await client.vectorStores.delete(id)).toMatchObject({ deleted: true })
})

test('a store is renamed, and a file gets other attributes and shows its text', async () => {
  const { client } = openAssistant()
  const { id } = await client.vectorStores.create({ name: 'HR', metadata: { team: 'people' } })
  const other = await client.vectorStores.create({ name: 'Rules' })
  const renamed = await client.vectorStores.update(id, { name: 'Rules', metadata: { team: 'law' } })
  expect(renamed).toMatchObject({ id, name: 'Rules', metadata: { team: 'law' } })
  expect(await client.vectorStores.update(id, { name: null })).toMatchObject({
    name: 'Rules',
    metadata: { team: 'law' },
  })
  expect((await client.vectorStores.retrieve(other.id)).name).toBe('Rules')
  const update = { expires_after: { anchor: 'last_active_at', days: 1 } } as const
  await expect(client.vectorStores.update(id, update)).rejects.toMatchObject({ status: 400, param: 'expires_after' })
  const file = await client.vectorStores.files.uploadAndPoll(id, await leave(), { pollIntervalMs })
  const place = { vector_store_id: id }
  expect(await client.vectorStores.files.update(file.id, { ...place, attributes: { year: 2026 } })).toMatchObject({
    id: file.id,
    attributes: { year: 2026 },
  })
  const changed = await client.vectorStores.files.poll(id, file.id, { pollIntervalMs })
  expect(changed).toMatchObject({ status: 'completed', attributes: { year: 2026 } })
  const texts: unknown[] = []
  for await (const { text } of client.vectorStores.files.content(file.id, place)) texts.push(text)
  expect(texts.join('\n')).toContain('25 days of leave')
})

test('a caller makes a hundred stores, and each is audited', async () => {
  const { ana, ben, inlay } = openForTwo()
  const stores = await Promise.all(Array.from({ length: 100 }, () => ana.vectorStores.create({})))
  await expect(ana.vectorStores.create({})).rejects.toMatchObject({ status: 403 })
  expect(await ben.vectorStores.create({})).toMatchObject({ object: 'vector_store' })
  await ana.vectorStores.delete(stores[0]!.id)
  expect(await ana.vectorStores.create({})).toMatchObject({ object: 'vector_store' })
  const principal = { id: 'root', scopes: ['admin' as const] }
  const audit = await inlay.fetch(new Request('http://inlay.test/api/admin/audit'), { principal })
  expect(await audit.text()).toContain('createVectorStore')
})

test('a file whose document was deleted elsewhere says so', async () => {
  const { client, inlay } = openAssistant()
  const { id } = await client.vectorStores.create({})
  const file = await client.vectorStores.files.uploadAndPoll(id, await leave(), { pollIntervalMs })
  await inlay.knowledge.remove(`${id}.${file.id}`)
  const { data } = await client.vectorStores.files.list(id)
  expect(data).toMatchObject([{ id: file.id, status: 'failed' }])
  expect(data[0]?.last_error?.message).toContain('was deleted')
  expect((await client.vectorStores.files.list(id, { filter: 'completed' })).data).toEqual([])
})

test('stores, files and batches of another person do not exist', async () => {
  const { ana, ben } = openForTwo()
  const { id } = await ana.vectorStores.create({ name: 'Mine' })
  const upload = await ana.files.create({ file: await leave(), purpose: 'assistants' })
  const batch = await ana.vectorStores.fileBatches.createAndPoll(id, { file_ids: [upload.id] }, { pollIntervalMs })
  expect(batch.status).toBe('completed')
  const [place, own] = [{ vector_store_id: id }, await ben.vectorStores.create({})]
  const calls: Promise<unknown>[] = [
    ben.vectorStores.retrieve(id),
    ben.vectorStores.update(id, { name: 'Taken' }),
    ben.vectorStores.delete(id),
    ben.vectorStores.search(id, { query: 'leave' }),
    ben.vectorStores.files.list(id),
    ben.vectorStores.files.retrieve(upload.id, place),
    ben.vectorStores.files.update(upload.id, { ...place, attributes: {} }),
    ben.vectorStores.files.content(upload.id, place),
    ben.vectorStores.files.delete(upload.id, place),
    ben.vectorStores.files.create(own.id, { file_id: upload.id }),
    ben.vectorStores.fileBatches.create(own.id, { file_ids: [upload.id] }),
    ben.vectorStores.fileBatches.create(id, { file_ids: [upload.id] }),
    ben.vectorStores.fileBatches.retrieve(batch.id, place),
    ben.vectorStores.fileBatches.listFiles(batch.id, place),
    ben.vectorStores.fileBatches.cancel(batch.id, place),
    ben.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: own.id }),
    ben.files.retrieve(upload.id),
  ]
  for (const answer of await Promise.allSettled(calls))
    expect(answer).toMatchObject({ status: 'rejected', reason: { status: 404 } })
  expect((await ben.vectorStores.list()).data.map((store) => store.id)).toEqual([own.id])
  expect((await ana.vectorStores.search(id, { query: 'leave' })).data).toHaveLength(1)
})

test('a chat completion cites a file of a store', async () => {
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? ['There are 25 days [1].']
      : [{ call: { name: 'internal_search', input: { queries: ['days of leave'] } } }],
  )
  const facts = { ...scripted, model, grounding: 'tools' as const }
  const { client, fetch } = openAssistant({
    model: {
      resolve: async () => facts,
      list: async () => [{ ...facts, providerType: 'scripted', providerDisplayName: 'Scripted', isDefault: true }],
    },
    searchHelp: { expand: false },
  })
  const { id } = await client.vectorStores.create({ name: 'HR' })
  await client.vectorStores.files.uploadAndPoll(id, await leave(), { pollIntervalMs })
  const messages = [{ role: 'user' as const, content: 'How many days of leave?' }]
  const { choices } = await client.chat.completions.create({ model: 'inlay', messages })
  const { content, annotations } = choices[0]!.message
  const { url, title, start_index: start, end_index: end } = annotations![0]!.url_citation
  expect([title, content?.slice(start, end)]).toEqual(['leave.md', '[1]'])
  const page = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } })
  expect(await page.text()).toContain('25 days of leave')
})

test('no body of a route of vector stores is a failure of the server', async () => {
  const { client, fetch } = openAssistant()
  const { id } = await client.vectorStores.create({})
  const file = await client.vectorStores.files.uploadAndPoll(id, await leave(), { pollIntervalMs })
  const batch = await client.vectorStores.fileBatches.create(id, { file_ids: [file.id] })
  const place = `/vector_stores/${id}`
  const [value, attributes] = [
    fc.anything(),
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.jsonValue())),
  ]
  const fileId = fc.oneof(fc.constant(file.id), fc.string(), value)
  const { filter } = fc.letrec((tie) => ({
    filter: fc.oneof(
      { maxDepth: 4 },
      fc.record({
        type: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'or'),
        key: fc.string(),
        value: fc.oneof(fc.string(), fc.double(), fc.array(fc.string())),
      }),
      fc.record({ type: fc.constantFrom('and', 'or'), filters: fc.array(tie('filter')) }),
    ),
  }))
  const few = { requiredKeys: [] }
  const addition = fc.record({ file_id: fileId, attributes: fc.oneof(attributes, value) }, few)
  const requests = fc.oneof(
    fc.tuple(fc.constant(place), fc.record({ name: fc.oneof(fc.string(), value), metadata: attributes }, few)),
    fc.tuple(
      fc.constant('/vector_stores'),
      fc.record({ name: value, file_ids: fc.array(fileId), metadata: value }, few),
    ),
    fc.tuple(fc.constant(`${place}/files`), addition),
    fc.tuple(fc.constant(`${place}/files/${file.id}`), fc.record({ attributes: fc.oneof(attributes, value) }, few)),
    fc.tuple(
      fc.constant(`${place}/file_batches`),
      fc.record({ files: fc.array(addition), file_ids: fc.array(fileId), attributes }, few),
    ),
    fc.tuple(
      fc.constant(`${place}/search`),
      fc.record({ query: fc.oneof(fc.string(), value), filters: fc.oneof(filter, value), max_num_results: value }, few),
    ),
    fc.tuple(fc.constantFrom(`${place}/file_batches/${batch.id}/cancel`, `${place}/file_batches/x/cancel`), value),
  )
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(requests, async ([path, body]) => {
      const sent = typeof body === 'bigint' ? undefined : toJson(body)
      const answer = await fetch(`http://inlay.test/v1${path}`, { method: 'POST', headers, body: sent ?? null })
      statuses.add(answer.status)
      expect(answer.status, `${path} ${sent} ${await answer.text()}`).toBeLessThan(500)
    }),
    { numRuns: 150 },
  )
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400]))
})

const toJson = (body: unknown): string | undefined =>
  JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
