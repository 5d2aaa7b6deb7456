import { describe, expect, test } from 'vitest'
import type { SearchRequest } from '@inlay/knowledge'
import { ingestionRequestSchema, parseWith, searchResponseSchema, type SearchResponse } from '@inlay/protocol'
import * as v from 'valibot'
import { makeKnowledge } from '../../../knowledge/setup.ts'
import { newService } from '../../conversation.ts'
import { setup } from '../../fakes.ts'

test('passages come in order, those of one document under one number', async () => {
  const { results } = (await (await setup().ask('/search', { json: { query: 'leave' } })).json()) as {
    results: object[]
  }
  expect(results).toEqual([
    {
      citation_id: 1,
      title: 'A title',
      content: 'about leave',
      link: 'https://docs.example/a',
      source_type: 'web',
      updated_at: '2026-01-02T03:04:05.000Z',
    },
    expect.objectContaining({ citation_id: 2, content: 'more' }),
    expect.objectContaining({ citation_id: 1, content: 'again' }),
  ])
})

test('with include_ranking, each passage says its place in its document and how it was ranked', async () => {
  const { knowledge } = await makeKnowledge({ ranking: { recency: { halfLifeDays: 365 } } })
  await knowledge.start()
  const document = (id: string, year: number) => ({
    id,
    semantic_identifier: id === 'rota' ? 'Rota 7' : id,
    metadata: {},
    doc_updated_at: `${year}-01-01T00:00:00Z`,
    sections: [{ text: 'Lunch is served at noon.' }],
  })
  for (const each of [document('old', 2015), document('rota', 2026)])
    await knowledge.accept(parseWith(ingestionRequestSchema, { document: each }, 'body'), { waitMs: 60_000 })
  const { fetchJson } = await newService([], { search: knowledge.search, searchHelp: { expand: false } })
  const search = async (json: object): Promise<SearchResponse['results']> => {
    const { body } = await fetchJson('/search', { json: { skip_query_expansion: true, ...json } })
    return v.parse(searchResponseSchema, body).results
  }
  const results = await search({ query: 'lunch in rota 7', include_ranking: true })
  expect(results).toMatchObject([
    { document_id: 'rota', chunk: 0, ranking: { vector: null, vector_weight: 0, named: true, reranked: false } },
    { document_id: 'old', chunk: 0, ranking: { vector: null, named: false } },
  ])
  const [first, second] = results.map(({ ranking }) => ranking!)
  expect(first!.words).toBeGreaterThan(0)
  expect(first!.score).toBeGreaterThan(second!.score)
  // A document of 2015 has lost nearly all of the half that age can take.
  expect(second!.recency).toBeLessThan(0.52)
  expect(first!.recency).toBeGreaterThan(second!.recency!)
  const [plain] = await search({ query: 'lunch' })
  expect(plain).not.toHaveProperty('ranking')
})

test('filters and caller reach the search', async () => {
  const { ask, knowledge } = setup()
  const requests: SearchRequest[] = []
  Object.assign(knowledge, {
    search: async (request: SearchRequest) => {
      requests.push(request)
      return []
    },
  })
  const tags = [{ tag_key: 'team', tag_value: 'HR' }]
  await ask('/search', {
    json: { query: 'x', sources: ['web'], document_sets: ['Handbook'], tags, time_cutoff: '2026-01-01T00:00:00Z' },
  })
  expect(requests[0]).toMatchObject({
    text: 'x',
    caller: { id: 'alice' },
    filters: { source_type: ['web'], document_set: ['Handbook'], tags },
  })
})

test.each([{}, { query: '' }, { query: 'x'.repeat(2049) }, { query: 'x', sources: ['moon'] }])(
  '%j is a validation error',
  async (json) => {
    expect((await setup().ask('/search', { json })).status).toBe(422)
  },
)

test('a provider without a model, or a model without a provider, is a validation error', async () => {
  for (const half of [{ provider: 'inlay' }, { model: 'extractive' }])
    expect((await setup().ask('/search', { json: { query: 'x', ...half } })).status).toBe(422)
  expect((await setup().ask('/search', { json: { query: 'x', provider: null, model: null } })).status).toBe(200)
})

describe('a query with a conversation before it', () => {
  /** The query that is searched, without a model to rewrite it. */
  async function searched(query: string, history: readonly object[] | null, more: object = {}): Promise<string[]> {
    const texts: string[] = []
    const search = async ({ text }: { readonly text: string }): Promise<[]> => {
      texts.push(text)
      return []
    }
    const { fetchJson } = await newService([], { search, searchHelp: { expand: false } })
    const { status } = await fetchJson('/search', { json: { query, message_history: history, ...more } })
    expect(status).toBe(200)
    return texts
  }
  const said = (message: string, message_type = 'user') => ({ message, message_type })
  const history = [
    said('Who runs the canteen?'),
    said('Anna does.', 'assistant'),
    said('How many days of parental leave are there?'),
    said('Sixty.', 'assistant'),
  ]

  test('is joined by the words of the last questions that matter when it leans on them', async () => {
    const [alone, joined] = await searched('And for freelancers?', history)
    expect(alone).toBe('And for freelancers?')
    expect(joined).toMatch(/^And for freelancers\? .*parental leave/)
    expect(joined).not.toContain('Anna')
  })

  test('is searched for alone when it has words enough, repeats them, or nothing was asked', async () => {
    const whole = 'How do contractors submit travel expenses from abroad?'
    expect(await searched(whole, history)).toEqual([whole])
    expect(await searched('leave', [said('leave?')])).toEqual(['leave'])
    expect(await searched('leave', null)).toEqual(['leave'])
    expect(await searched('leave', [said('Be brief.', 'system'), said('Sixty days.', 'assistant')])).toEqual(['leave'])
    expect(await searched('And for freelancers?', history, { skip_query_expansion: 'true' })).toHaveLength(1)
  })

  test('a message of an unknown kind is refused', async () => {
    const { fetchJson } = await newService([])
    const refused = await fetchJson('/search', { json: { query: 'x', message_history: [said('y', 'robot')] } })
    expect(refused).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'message_history', '0', 'message_type'] }] },
    })
  })
})

describe('an agent', () => {
  const persona = {
    name: 'HR',
    description: '',
    tool_ids: [],
    system_prompt: '',
    task_prompt: '',
    datetime_aware: true,
  }

  /** Two documents about leave, in pairs 1 and 2, and an agent that knows the set of pair 2. */
  async function library(answers: string[] = []) {
    const { knowledge } = await makeKnowledge()
    await knowledge.start()
    await knowledge.pairs.create({ name: 'HR' })
    await knowledge.documentSets.create({ name: 'hr', pairIds: [2] })
    for (const pair of [1, 2]) {
      const document = { id: `leave-${pair}`, semantic_identifier: `Leave ${pair}`, metadata: {} }
      const dated = {
        ...document,
        doc_updated_at: `202${pair}-01-01T00:00:00Z`,
        sections: [{ text: 'Leave is granted.' }],
      }
      const accepted = parseWith(ingestionRequestSchema, { document: dated, cc_pair_id: pair }, 'body')
      await knowledge.accept(accepted, { waitMs: 60_000 })
    }
    const service = await newService(
      answers.map((text) => [text]),
      {
        search: (query) => knowledge.search(query),
        documentSets: (caller) => knowledge.documentSets.list({ caller }),
        searchHelp: {},
      },
      { knowledge },
    )
    const search = async (json: object): Promise<{ status: number; titles: string[]; code: unknown }> => {
      const { status, body } = await service.fetchJson('/search', { json: { query: 'leave', ...json } })
      const { results, error_code: code } = body as { results?: { title: string }[]; error_code?: string }
      return { status, titles: (results ?? []).map(({ title }) => title).toSorted(), code }
    }
    const create = async (fields: object): Promise<number> => {
      const { body } = await service.fetchJson('/persona', { json: { ...persona, document_set_ids: [], ...fields } })
      return (body as { id: number }).id
    }
    return { ...service, search, create }
  }

  test('bounds a search by its document sets and its start date, as in a chat', async () => {
    const { search, create } = await library()
    const skipped = { skip_query_expansion: true }
    expect((await search(skipped)).titles).toEqual(['Leave 1', 'Leave 2'])
    const bySet = await create({ document_set_ids: [1] })
    expect((await search({ ...skipped, persona_id: bySet })).titles).toEqual(['Leave 2'])
    const byDate = await create({ search_start_date: '2021-06-01T00:00:00Z' })
    const dated = await search({ ...skipped, persona_id: byDate })
    expect(dated.titles).toEqual(['Leave 2'])
    expect(await search({ ...skipped, persona_id: 99 })).toMatchObject({ status: 404, code: 'PERSONA_NOT_FOUND' })
  })

  test('has its model think of further queries, unless the request skips that', async () => {
    const { search, setting } = await library(['{"question": "What is granted?", "keywords": []}'])
    expect((await search({ query: 'holiday' })).status).toBe(200)
    expect(setting.model.requests).toHaveLength(1)
    await search({ query: 'holiday', skip_query_expansion: true })
    expect(setting.model.requests).toHaveLength(1)
  })

  test('its model reads the conversation before the query, and its question is searched for', async () => {
    const { search, setting } = await library(['{"question": "How much leave do part-timers get?", "keywords": []}'])
    const history = [{ message: 'How much leave is there?', message_type: 'user' }]
    const outcome = await search({ query: 'And for part-timers?', message_history: history })
    expect(outcome.titles).toEqual(['Leave 1', 'Leave 2'])
    expect(JSON.stringify(setting.model.requests[0]?.prompt)).toContain('How much leave is there?')
  })

  test('a provider that is not there is told, whether queries are expanded or not', async () => {
    const { search } = await library()
    for (const skip of [true, false])
      expect(await search({ provider: 'nobody', model: 'x', skip_query_expansion: skip })).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
      })
  })
})
