import { createInlay } from 'inlay'
import OpenAI, { toFile } from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../life/process.ts'
import { apiKey, openAssistant } from './setting.ts'

const leave = (): Promise<File> => toFile(Buffer.from('# Leave\n\nEmployees get 25 days of leave a year.'), 'leave.md')
const bikes = (): Promise<File> => toFile(Buffer.from('# Bikes\n\nBikes are rented at the front desk.'), 'bikes.md')

test('a file put into a store is found there and by Inlay’s own search, until it is taken out', async () => {
  const { client, fetch } = openAssistant()
  const store = await client.vectorStores.create({ name: 'HR', metadata: { team: 'people' } })
  expect(store).toMatchObject({ object: 'vector_store', name: 'HR', metadata: { team: 'people' }, status: 'completed' })
  const upload = await client.files.create({ file: await leave(), purpose: 'assistants' })
  const file = await client.vectorStores.files.createAndPoll(store.id, {
    file_id: upload.id,
    attributes: { year: 2026, kind: 'policy' },
  })
  expect(file).toMatchObject({ id: upload.id, status: 'completed', last_error: null })
  const other = await client.vectorStores.files.uploadAndPoll(store.id, await bikes())
  expect(other.status).toBe('completed')
  const names = async (): Promise<string[]> =>
    (await client.vectorStores.search(store.id, { query: 'leave, front desk' })).data.map(({ filename }) => filename)
  expect((await names()).toSorted()).toEqual(['bikes.md', 'leave.md'])
  const [hit] = (await client.vectorStores.search(store.id, { query: ['leave', 'days'], max_num_results: 1 })).data
  expect(hit).toMatchObject({ file_id: upload.id, attributes: { year: 2026, kind: 'policy' } })
  expect(hit?.content[0]?.text).toContain('25 days')
  expect(hit?.score).toBeGreaterThan(0)
  expect(hit?.score).toBeLessThanOrEqual(1)
  const own = async (): Promise<unknown> =>
    fetch('http://inlay.test/api/search', {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'days of leave', document_sets: ['HR'] }),
    }).then((answer) => answer.json())
  expect(JSON.stringify(await own())).toContain('25 days of leave')
  await client.vectorStores.files.delete(upload.id, { vector_store_id: store.id })
  expect(await names()).toEqual(['bikes.md'])
  expect(JSON.stringify(await own())).not.toContain('25 days of leave')
  expect((await client.files.retrieve(upload.id)).status).toBe('processed')
  expect((await client.vectorStores.retrieve(store.id)).file_counts).toMatchObject({ completed: 1, total: 1 })
  await client.vectorStores.delete(store.id)
  await expect(client.vectorStores.retrieve(store.id)).rejects.toMatchObject({ status: 404 })
  expect(await own().then(JSON.stringify)).not.toContain('front desk')
})

test('a file accepted before a restart ends completed', async () => {
  const folder = temporaryFolder()
  const open = () => createInlay({ dataFolder: folder.path, apiKey, worker: { lingerMs: 1 } })
  let inlay = open()
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  const fetch: typeof globalThis.fetch = async (input, init) => inlay.fetch(new Request(input, init))
  const client = new OpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch, maxRetries: 0 })
  const store = await client.vectorStores.create({})
  const upload = await client.files.create({ file: await leave(), purpose: 'assistants' })
  await client.vectorStores.files.create(store.id, { file_id: upload.id })
  await inlay.close()
  inlay = open()
  const file = await client.vectorStores.files.poll(store.id, upload.id)
  expect(file.status).toBe('completed')
})
