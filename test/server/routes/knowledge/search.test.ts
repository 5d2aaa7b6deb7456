import { expect, test } from 'vitest'
import type { SearchRequest } from '@inlay/knowledge'
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

test('filters and caller reach the search', async () => {
  const { ask, knowledge } = setup()
  const asked: SearchRequest[] = []
  Object.assign(knowledge, {
    search: async (request: SearchRequest) => {
      asked.push(request)
      return []
    },
  })
  const tags = [{ tag_key: 'team', tag_value: 'HR' }]
  await ask('/search', {
    json: { query: 'x', sources: ['web'], document_sets: ['Handbook'], tags, time_cutoff: '2026-01-01T00:00:00Z' },
  })
  expect(asked[0]).toMatchObject({
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
