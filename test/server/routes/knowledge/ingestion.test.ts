import { describe, expect, test } from 'vitest'
import { aDocument, setup } from '../../fakes.ts'

const key = 'key-importer'
const ingestion = '/service-api/ingestion'
const oddIds = [
  'a/b',
  'a b',
  'a%2Fb',
  '100%',
  'ä/日本/😀',
  'quo"te\'s',
  'line\nbreak',
  '?x=1#y',
  '..',
  'a\\b',
  '+',
  'x'.repeat(1024),
]

describe.each(['/service-api', '/onyx-api'])('under %s', (prefix) => {
  test('a document is accepted for its caller, and known the second time', async () => {
    const { ask, knowledge } = setup()
    const first = await ask(`${prefix}/ingestion`, { key, json: aDocument('a') })
    expect([first.status, await first.json()]).toEqual([200, { document_id: 'a', already_existed: false }])
    const second = await ask(`${prefix}/ingestion`, { key, json: aDocument('a') })
    expect(await second.json()).toEqual({ document_id: 'a', already_existed: true })
    expect(knowledge.accepted.get('a')?.caller).toBe('importer')
  })

  test('its state is told with dates, and null where there is nothing', async () => {
    const { ask } = setup()
    await ask(`${prefix}/ingestion`, { key, json: aDocument('a') })
    expect(await (await ask(`${prefix}/ingestion/a`, { key })).json()).toEqual({
      document_id: 'a',
      state: 'indexed',
      reason: null,
      attempts: 1,
      next_try_at: null,
      accepted_at: '2026-01-02T03:04:05.000Z',
      indexed_at: '2026-01-02T03:04:06.000Z',
      chunk_count: 1,
      cc_pair_ids: [1],
    })
  })
})

test.each(oddIds.filter((id) => id !== '..'))('the id %j is percent-encoded once in paths', async (id) => {
  const { ask, knowledge } = setup()
  await ask(ingestion, { key, json: aDocument(id) })
  const path = `${ingestion}/${encodeURIComponent(id)}`
  expect(await (await ask(path, { key })).json()).toMatchObject({ document_id: id })
  const deleted = await ask(path, { key, method: 'DELETE' })
  expect([deleted.status, await deleted.json()]).toEqual([200, null])
  expect(knowledge.accepted.size).toBe(0)
  for (const method of ['GET', 'DELETE']) {
    expect(await (await ask(path, { key, method })).json()).toMatchObject({ error_code: 'DOCUMENT_NOT_FOUND' })
  }
})

test('an id that no document can have is a validation error', async () => {
  const response = await setup().ask(`${ingestion}/a%00b`, { key })
  expect([response.status, await response.json()]).toMatchObject([422, { detail: [{ loc: ['path', 'document_id'] }] }])
})

test('a listing goes on by its link header until there is none', async () => {
  const { ask, knowledge } = setup()
  for (const id of ['a', 'b', 'c/&=', 'd', 'e']) knowledge.accepted.set(id, { title: `T ${id}`, caller: undefined })
  const seen: string[] = []
  let path: string | undefined = `${ingestion}?limit=2&state=indexed`
  while (path !== undefined) {
    const response: Response = await ask(path, { key })
    const page = (await response.json()) as { document_id: string; semantic_id: string; link: string; state: string }[]
    expect(page[0]).toMatchObject({ semantic_id: `T ${page[0]?.document_id}`, link: '', state: 'indexed' })
    seen.push(...page.map(({ document_id }) => document_id))
    const next = /^<(\?[^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    expect(next === undefined || new URLSearchParams(next).get('state') === 'indexed').toBe(true)
    path = next === undefined ? undefined : ingestion + next
  }
  expect(seen).toEqual(['a', 'b', 'c/&=', 'd', 'e'])
})

test.each(['limit=0', 'limit=1001', 'limit=x', 'state=lost', 'cc_pair_id=1.5', 'limit=1&limit=2'])(
  'the query %s is a validation error',
  async (query) => {
    const response = await setup().ask(`${ingestion}?${query}`, { key })
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { detail: [{ loc: ['query', query.split('=')[0]] }] },
    ])
  },
)

describe('Prefer: wait', () => {
  test.each([
    ['wait=10', 10_000, 'wait=10'],
    ['respond-async, wait=2', 2000, 'wait=2'],
    ['Wait = "3"', 3000, 'wait=3'],
    ['wait=99999', 600_000, 'wait=600'],
    ['wait=0', undefined, 'wait=0'],
    ['wait=soon', 500, null],
    ['', 500, null],
  ])('%j', async (prefer, waitMs, applied) => {
    const { ask, knowledge } = setup({ ingestionWaitMs: 500 })
    const headers = new Headers(prefer === '' ? [] : [['prefer', prefer]])
    const response = await ask(ingestion, { key, json: aDocument('a'), headers })
    expect([response.status, response.headers.get('preference-applied')]).toEqual([200, applied])
    expect(knowledge.delays).toEqual([waitMs])
  })

  test('no more of one caller wait than may; what is refused was not accepted', async () => {
    const { ask, knowledge } = setup({ maxWaitingCalls: 2, ingestionWaitMs: 500 })
    const indexed = Promise.withResolvers<void>()
    knowledge.before = () => indexed.promise
    const waiting = { key, headers: { prefer: 'wait=9' } }
    const first = [ask(ingestion, { ...waiting, json: aDocument('a') }), ask(ingestion, { key, json: aDocument('b') })]
    await expect.poll(() => knowledge.accepted.size).toBe(2)

    const refused = await ask(ingestion, { ...waiting, json: aDocument('c') })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    const refusal = { error_code: 'RATE_LIMITED', scope: 'user', detail: expect.stringContaining('wait') }
    expect(await refused.json()).toMatchObject(refusal)
    expect(knowledge.accepted.has('c')).toBe(false)
    const unasked = ask(ingestion, { key, json: aDocument('d') })
    const other = ask(ingestion, { ...waiting, key: 'key-operator', json: aDocument('e') })
    await expect.poll(() => knowledge.accepted.size).toBe(4)
    indexed.resolve()
    for (const response of [...first, unasked, other]) expect((await response).status).toBe(200)
    expect(knowledge.delays).toEqual([9000, 500, undefined, 9000])
    expect((await ask(ingestion, { ...waiting, json: aDocument('c') })).status).toBe(200)
  })
})
