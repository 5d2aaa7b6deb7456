import type { Kysely } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { FetchAddress, StoredToolFields } from '@inlay/conversations'
import { createActionSwitches } from '@inlay/conversations/internal/custom-tools/manage-tools'
import { createStoredTools } from '@inlay/conversations/internal/custom-tools/manage-tools'
import { createToolNumbers } from '@inlay/conversations/internal/custom-tools/tool-numbers'
import { ana, codeOf, newDatabase } from '../../agent/setting.ts'
import { kennelDocument } from './kennel.ts'

const fields: StoredToolFields = {
  name: 'Kennel',
  description: 'Dogs',
  definition: kennelDocument(),
  customHeaders: [],
  passesAuth: false,
  isForAll: true,
}
const documentAt: FetchAddress = async (url) => ({
  status: url.endsWith('/missing') ? 404 : 200,
  headers: new Headers(),
  bytes: new TextEncoder().encode(url.endsWith('/page') ? '<html>' : JSON.stringify(kennelDocument())),
})

async function newTools(given?: { db?: Kysely<unknown>; fetchAddress?: FetchAddress | undefined }) {
  const db = given?.db ?? (await newDatabase())
  const errors: unknown[] = []
  let count = 0
  const parts = createStoredTools({
    db,
    fetchAddress: documentAt,
    switches: createActionSwitches(db),
    holds: async (id) => id < 8,
    now: () => 1_000,
    newId: () => `${++count} of ${errors.length} ${Math.random()}`,
    onError: (error) => void errors.push(error),
    ...given,
  })
  const names = async () => (await parts.source.list({ caller: ana })).map(({ id, name }) => `${id} ${name}`)
  return { ...parts, db, errors, names }
}

test('a tool is stored, changed, switched off and removed, and models see each at once', async () => {
  const { tools, source, names } = await newTools()
  const created = await tools.create(fields, ana)
  expect(created).toEqual({ ...fields, id: 1001, ownerId: 'ana', isEnabled: true, updatedAt: 1_000 })
  expect(await tools.list()).toEqual([created])
  expect(await names()).toEqual(['1001 list_dogs', '1001 boardDog', '1001 getDog', '1001 releaseDog'])

  const paths = { '/cats': { get: { operationId: 'listCats', summary: 'Lists cats.' } } }
  const changed = await tools.update(1001, { definition: { ...kennelDocument(), paths }, name: 'Cattery' })
  expect(changed).toMatchObject({ name: 'Cattery', description: 'Dogs', updatedAt: 1_001 })
  expect(await names()).toEqual(['1001 listCats'])

  expect(await tools.enable([1001, 1001, 9999, 3], false)).toEqual([3, 1001])
  expect(await names()).toEqual([])
  expect(await source.holds(1001)).toBe(true)
  await tools.enable([1001], true)
  expect(await names()).toEqual(['1001 listCats'])

  await tools.remove(1001)
  expect(await source.holds(1001)).toBe(false)
  expect(await codeOf(tools.get(1001))).toBe('NOT_FOUND')
  expect((await tools.create(fields, ana)).id).toBe(1002)
})

test('headers are kept, replaced as a whole, and never told in an error', async () => {
  const { tools } = await newTools()
  const customHeaders = [{ key: 'X-Key', value: 'top secret' }]
  const { id } = await tools.create({ ...fields, customHeaders }, ana)
  expect(await tools.update(id, { name: 'Other' })).toMatchObject({ customHeaders })
  const wrong = tools.update(id, { customHeaders: [{ key: 'X-Key', value: 'top secret\r\nhost: x' }] })
  await expect(wrong).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }))
  expect(await tools.update(id, { customHeaders: [] })).toMatchObject({ customHeaders: [] })
})

describe('refused are', () => {
  const authorization = [{ key: 'authorization', value: 'Bearer x' }]
  test.each<[string, Partial<StoredToolFields>]>([
    ['a tool without a name', { name: ' ' }],
    ['a document that cannot be used', { definition: {} }],
    ['a header that belongs to the connection', { customHeaders: [{ key: 'Host', value: 'x' }] }],
    [
      'a header given twice',
      {
        customHeaders: [
          { key: 'a', value: '1' },
          { key: 'A', value: '2' },
        ],
      },
    ],
    ['two authorities', { passesAuth: true, isForAll: true, customHeaders: authorization }],
    ['a page instead of a document', { definition: 'https://kennel.example/page' }],
  ])('%s', async (_, more) => {
    const { tools } = await newTools()
    expect(await codeOf(tools.create({ ...fields, ...more }, ana))).toBe('VALIDATION_ERROR')
    const { id } = await tools.create(fields, ana)
    expect(await codeOf(tools.update(id, more))).toBe('VALIDATION_ERROR')
    expect(await tools.list()).toHaveLength(1)
  })

  test('an address without the document, and all tools where nothing can be reached', async () => {
    const { tools } = await newTools()
    const definition = 'https://kennel.example/missing'
    expect(await codeOf(tools.create({ ...fields, definition }, ana))).toBe('BAD_GATEWAY')
    const { tools: closed, names } = await newTools({ fetchAddress: undefined })
    expect(await codeOf(closed.create(fields, ana))).toBe('UNSUPPORTED')
    expect(await names()).toEqual([])
  })

  test('the removal of a tool that an agent uses', async () => {
    const { tools, db } = await newTools()
    const { id } = await tools.create(fields, ana)
    const insert = { owner_id: 'ana', name: 'x', description: '', created_at: 1, updated_at: 1, is_public: 0 }
    const settings = JSON.stringify({ actionIds: [id] })
    await db
      .withTables<{ inlay_personas: object }>()
      .insertInto('inlay_personas')
      .values({ ...insert, settings } as object)
      .execute()
    expect(await codeOf(tools.remove(id))).toBe('VALIDATION_ERROR')
  })
})

test('a document may lie at an address, and is looked over before it is stored', async () => {
  const { tools } = await newTools()
  const definition = 'https://kennel.example/openapi.json'
  const { methods } = await tools.validate({ definition })
  expect(methods.map(({ name, method, path, summary }) => `${name} ${method} ${path}: ${summary}`)).toContain(
    'getDog GET /dogs/{dogId}: One dog.',
  )
  expect(await tools.list()).toEqual([])
  expect(await tools.create({ ...fields, definition }, ana)).toMatchObject({ definition: kennelDocument() })
})

test('a server told relative to its document is kept as a whole address', async () => {
  const relative = { ...kennelDocument(), servers: [{ url: '/api/v3' }] }
  const fetchAddress: FetchAddress = async () => ({
    status: 200,
    headers: new Headers(),
    bytes: new TextEncoder().encode(JSON.stringify(relative)),
  })
  const { tools } = await newTools({ fetchAddress })
  const definition = 'https://kennel.example/docs/openapi.json'
  expect(await tools.create({ ...fields, definition }, ana)).toMatchObject({
    definition: { servers: [{ url: 'https://kennel.example/api/v3' }] },
  })
  expect(await codeOf(tools.create({ ...fields, definition: relative }, ana))).toBe('VALIDATION_ERROR')
})

test('a stored document that is no longer understood is left out, told to the operator, and spoils nothing else', async () => {
  const { tools, db, errors, names } = await newTools()
  const { id } = await tools.create(fields, ana)
  await tools.create(
    { ...fields, definition: { ...kennelDocument(), paths: { '/a': { get: { operationId: 'a', summary: 'a' } } } } },
    ana,
  )
  const table = db.withTables<{ inlay_agent_tool: { id: number; definition: string } }>()
  await table.updateTable('inlay_agent_tool').set({ definition: '{}' }).where('id', '=', id).execute()
  expect(await names()).toEqual(['1002 a'])
  expect(await names()).toEqual(['1002 a'])
  expect(errors).toHaveLength(1)
})

test('numbers stay with their names, and racing processes agree', async () => {
  const db = await newDatabase()
  const [first, second] = [createToolNumbers(db), createToolNumbers(db)]
  const given = await Promise.all([first.numberOf('mcp', 'a'), second.numberOf('mcp', 'a'), first.numberOf('x', 'a')])
  expect(given[0]).toBe(given[1])
  expect(given[2]).not.toBe(given[0])
  expect(Math.min(...given)).toBe(1001)
  expect(await createToolNumbers(db).numberOf('mcp', 'a')).toBe(given[0])
  expect(await first.find(given[2])).toEqual({ kind: 'x', name: 'a' })
  expect(await first.find(1000)).toBeUndefined()
})
