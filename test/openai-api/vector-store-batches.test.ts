import { openaiApi } from '@inlay/openai-api'
import { filtersOfStores } from '@inlay/openai-api/internal/vector-store-search'
import { createInlay } from 'inlay'
import OpenAI, { toFile } from 'openai'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../life/process.ts'
import { apiKey, openAssistant } from './setting.ts'

const pollIntervalMs = 10
const page = (name: string): Promise<File> => toFile(Buffer.from(`# ${name}\n\nWhat is said of ${name}.`), `${name}.md`)

test('files are added together, each with attributes, and listed by batch and by status', async () => {
  const { client } = openAssistant()
  const { id } = await client.vectorStores.create({})
  const upload = async (name: string) =>
    (await client.files.create({ file: await page(name), purpose: 'assistants' })).id
  const [bikes, leave, alone] = [await upload('bikes'), await upload('leave'), await upload('alone')]
  await client.vectorStores.files.createAndPoll(id, { file_id: alone }, { pollIntervalMs })
  const files = [{ file_id: bikes, attributes: { year: 2026 } }, { file_id: leave }]
  const batch = await client.vectorStores.fileBatches.createAndPoll(id, { files }, { pollIntervalMs })
  expect(batch).toMatchObject({ object: 'vector_store.file_batch', status: 'completed', vector_store_id: id })
  expect(batch.file_counts).toEqual({ in_progress: 0, completed: 2, failed: 0, cancelled: 0, total: 2 })
  const listed: unknown[] = []
  const place = { vector_store_id: id, limit: 1 }
  for await (const file of client.vectorStores.fileBatches.listFiles(batch.id, place)) listed.push(file)
  expect(listed).toHaveLength(2)
  expect(listed).toContainEqual(expect.objectContaining({ id: bikes, attributes: { year: 2026 } }))
  expect(listed).toContainEqual(expect.objectContaining({ id: leave, chunking_strategy: { type: 'other' } }))
  const failed = await client.vectorStores.fileBatches.listFiles(batch.id, { ...place, filter: 'failed' })
  expect(failed.data).toEqual([])
  const all = (await client.vectorStores.files.list(id, { order: 'asc' })).data.map((file) => file.id)
  expect(all).toHaveLength(3)
  const before = await client.vectorStores.files.list(id, { order: 'asc', before: all[2]!, limit: 1 })
  expect(before).toMatchObject({ data: [{ id: all[1] }], has_more: true })
  const shared = await client.vectorStores.fileBatches.uploadAndPoll(
    id,
    { files: [await page('rooms')] },
    { pollIntervalMs },
  )
  expect(shared.file_counts).toMatchObject({ completed: 1, total: 1 })
})

test('a batch survives a restart; cancelled, it takes out what waits and leaves what was there before', async () => {
  const folder = temporaryFolder()
  // The first process indexes nothing, so that its files wait.
  const open = (indexes: boolean) => createInlay({ dataFolder: folder.path, apiKey, worker: { lingerMs: 1, indexes } })
  let inlay = open(false)
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  const fetch: typeof globalThis.fetch = async (input, init) => inlay.fetch(new Request(input, init))
  const client = new OpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch, maxRetries: 0 })
  const { id } = await client.vectorStores.create({})
  const ids: string[] = []
  for (const name of ['bikes', 'leave', 'rooms'])
    ids.push((await client.files.create({ file: await page(name), purpose: 'assistants' })).id)
  const create = (...fileIds: string[]) => client.vectorStores.fileBatches.create(id, { file_ids: fileIds })
  const kept = await create(ids[0]!)
  const cancelled = await create(...ids)
  expect(cancelled).toMatchObject({ status: 'in_progress', file_counts: { in_progress: 3, total: 3 } })
  const answer = await client.vectorStores.fileBatches.cancel(cancelled.id, { vector_store_id: id })
  expect(answer.file_counts).toMatchObject({ in_progress: 1, cancelled: 2, total: 3 })
  await inlay.close()
  inlay = open(true)
  expect(await client.vectorStores.fileBatches.poll(id, kept.id, { pollIntervalMs })).toMatchObject({
    status: 'completed',
    file_counts: { completed: 1, total: 1 },
  })
  const after = await client.vectorStores.fileBatches.retrieve(cancelled.id, { vector_store_id: id })
  expect(after).toMatchObject({ status: 'cancelled', file_counts: { completed: 1, cancelled: 2, total: 3 } })
  expect((await client.vectorStores.files.list(id)).data.map((file) => file.id)).toEqual([ids[0]])
})

test('searches are restricted by filters over attributes, exactly', async () => {
  const { client } = openAssistant()
  const { id } = await client.vectorStores.create({})
  const attributesOf: Record<string, Record<string, string | number | boolean>> = {
    bikes: { year: 2024, kind: 'rule', isOld: true },
    leave: { year: 2026, kind: 'rule' },
    rooms: { year: 2025, kind: 'plan', vector_store_file: 'own' },
    unknown: { year: '2026' },
  }
  const files: { file_id: string; attributes: Record<string, string | number | boolean> }[] = []
  for (const [name, attributes] of Object.entries(attributesOf)) {
    const upload = await client.files.create({ file: await page(name), purpose: 'assistants' })
    files.push({ file_id: upload.id, attributes })
  }
  await client.vectorStores.fileBatches.createAndPoll(id, { files }, { pollIntervalMs })
  const search = async (filters: unknown): Promise<string> => {
    const body = { query: 'what is said', max_num_results: 50, filters: filters as OpenAI.ComparisonFilter }
    const hits = await client.vectorStores.search(id, body)
    return hits.data
      .map(({ filename }) => filename.replace('.md', ''))
      .toSorted()
      .join(' ')
  }
  const year = (type: string, value: unknown) => ({ type, key: 'year', value })
  const cases: [filters: unknown, names: string][] = [
    [year('eq', 2026), 'leave'],
    [year('eq', '2026'), 'unknown'],
    [year('ne', 2026), 'bikes rooms unknown'],
    [year('gt', 2024), 'leave rooms'],
    [year('gte', 2024), 'bikes leave rooms'],
    [year('lt', 2025), 'bikes'],
    [year('lte', 2025), 'bikes rooms'],
    [year('in', [2024, '2026']), 'bikes unknown'],
    [year('nin', [2024, 2026]), 'rooms unknown'],
    [{ type: 'eq', key: 'isOld', value: true }, 'bikes'],
    [{ type: 'eq', key: 'vector_store_file', value: 'own' }, 'rooms'],
    [{ type: 'eq', key: 'toString', value: 'x' }, ''],
    [
      {
        type: 'or',
        filters: [
          { type: 'and', filters: [{ type: 'eq', key: 'kind', value: 'rule' }, year('gt', 2024)] },
          { type: 'and', filters: [{ type: 'eq', key: 'kind', value: 'plan' }, year('lt', 2026)] },
        ],
      },
      'leave rooms',
    ],
  ]
  for (const [filters, names] of cases) expect(await search(filters), JSON.stringify(filters)).toBe(names)
  let deep: object = year('eq', 2026)
  for (let level = 0; level < 2_000; level++) deep = { type: 'and', filters: [deep] }
  for (const filters of [year('like', 'a'), year('in', 1), { type: 'and' }, 'year=2026', deep])
    await expect(search(filters)).rejects.toMatchObject({ status: 400, param: 'filters' })
  await client.vectorStores.files.update(files[0]!.file_id, { vector_store_id: id, attributes: { year: 2030 } })
  expect(await search(year('eq', 2030))).toBe('bikes')
  expect(await search(year('eq', 2024))).toBe('')
})

test('stores and filters become filters of the search of a turn', async () => {
  const { client, inlay } = openAssistant()
  const route = openaiApi.routes.find(({ operationId }) => operationId === 'getVectorStore')!
  const handle = vi.spyOn(route, 'handle')
  const upload = await client.files.create({ file: await page('leave'), purpose: 'assistants' })
  const stores: string[] = []
  for (const year of [2025, 2026]) {
    const { id } = await client.vectorStores.create({ name: `Of ${year}` })
    await client.vectorStores.files.createAndPoll(id, { file_id: upload.id, attributes: { year } }, { pollIntervalMs })
    stores.push(id)
  }
  await client.vectorStores.retrieve(stores[0]!)
  const [{ parts, caller }] = handle.mock.calls[0]!
  const find = async (storeIds: string[], filters: unknown): Promise<string[]> => {
    const searchFilters = await filtersOfStores(parts, { storeIds, filters, param: 'tools.0.filters' }, caller!)
    const passages = await inlay.knowledge.search({ text: 'what is said', filters: searchFilters, limit: 10 })
    return passages.map(({ document }) => document.document_id.split('.')[0]!).toSorted()
  }
  const later = { type: 'gt', key: 'year', value: 2025 }
  expect(await find(stores, null)).toEqual(stores)
  expect(await find(stores, later)).toEqual([stores[1]])
  expect(await find([stores[0]!], later)).toEqual([])
  for (const [storeIds, filters] of [
    [[], later],
    [stores, { type: 'like' }],
  ] as const)
    await expect(find([...storeIds], filters)).rejects.toMatchObject({ data: { param: 'tools.0.filters' } })
  await expect(find(['vs_999'], null)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
