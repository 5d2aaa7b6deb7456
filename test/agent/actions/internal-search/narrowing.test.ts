import fc from '../../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import { narrowFilters, toFilterPacket } from '@inlay/agent/internal/actions/internal-search/narrowing'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import { sourceValues, type BaseFilters } from '@inlay/protocol'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

describe('what a model narrows a search to', () => {
  test('binds where the request says nothing', () => {
    expect(narrowFilters(null, { sources: ['Slack', 'slack'], updated_from: '2026-01-01' })).toEqual({
      source_type: ['slack'],
      time_cutoff: '2026-01-01T00:00:00.000Z',
    })
    expect(narrowFilters(null, { updated_to: '2026-01-31' })).toEqual({
      updated_at_range: { start: null, end: '2026-01-31T23:59:59.000Z' },
    })
    expect(narrowFilters(null, {})).toBeNull()
  })

  test('is what both have in common where the request narrows too', () => {
    const filters: BaseFilters = {
      source_type: ['slack', 'web'],
      time_cutoff: '2026-01-10T00:00:00Z',
      updated_at_range: { start: '2026-01-05T00:00:00Z', end: '2026-03-01T00:00:00Z' },
      tags: [{ tag_key: 'team', tag_value: 'HR' }],
    }
    expect(
      narrowFilters(filters, { sources: ['web', 'jira'], updated_from: '2026-02-01', updated_to: '2027-01-01' }),
    ).toEqual({ ...filters, source_type: ['web'], time_cutoff: '2026-02-01T00:00:00.000Z' })
    expect(narrowFilters(filters, { updated_from: '2025-01-01' })).toEqual(filters)
  })

  test('is ignored when it leaves nothing in common with the request, or means nothing', () => {
    const filters: BaseFilters = { source_type: ['slack'], time_cutoff: '2026-01-10T00:00:00Z' }
    expect(narrowFilters(filters, { sources: ['web'] })).toEqual(filters)
    expect(narrowFilters(filters, { updated_to: '2025-12-31' })).toEqual(filters)
    expect(narrowFilters(filters, { sources: ['moon', ''], updated_from: 'last week', updated_to: '' })).toEqual(
      filters,
    )
  })

  test('never lets in what the request kept out', () => {
    const day = fc.integer({ min: 0, max: 60 }).map((offset) => new Date(Date.UTC(2026, 0, 1 + offset)).toISOString())
    const source = fc.constantFrom(...sourceValues.slice(0, 4))
    const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value)
    const filters = fc.record({
      source_type: maybe(fc.uniqueArray(source)),
      time_cutoff: maybe(day),
      updated_at_range: maybe(fc.record({ start: maybe(day), end: maybe(day) })),
    })
    const narrowings = fc.record({
      sources: maybe(fc.array(source)),
      updated_from: maybe(day),
      updated_to: maybe(day),
    })
    fc.assert(
      fc.property(filters, narrowings, source, day, (given, narrowing, from, updated) => {
        const lets = ({ source_type: sources, time_cutoff: cutoff, updated_at_range: range }: BaseFilters): boolean =>
          (!sources?.length || sources.includes(from)) &&
          (!cutoff || updated >= cutoff) &&
          (!range?.start || updated >= range.start) &&
          (!range?.end || updated <= range.end)
        return !lets(narrowFilters(given, narrowing) ?? {}) || lets(given)
      }),
    )
  })

  test('is searched with, told before the queries, and dropped when nothing is found', async () => {
    const searched: unknown[] = []
    const { turn, packets } = newTurn()
    const result = await createInternalSearch({
      search: async ({ filters }) => (searched.push(filters), []),
    }).run({ queries: ['a'], sources: ['slack'], updated_from: null }, turn)
    expect(searched).toEqual([{ source_type: ['slack'] }, null])
    expect(packets.map(({ type }) => type)).toEqual(['search_tool_filter_delta', 'search_tool_queries_delta'])
    expect(packets[0]).toMatchObject({ sources: ['slack'] })
    expect(JSON.parse(result.text)).toMatchObject({ results: [], note: expect.stringContaining('Nothing was found') })
  })

  test('never empties a search', async () => {
    const { turn } = newTurn()
    const result = await createInternalSearch({
      search: async ({ filters }) => (filters ? [] : [newPassage('leave', '28 days')]),
    }).run({ queries: ['a'], sources: ['slack'] }, turn)
    expect(JSON.parse(result.text)).toMatchObject({
      results: [{ content: '28 days' }],
      note: expect.stringContaining('from all documents'),
    })
  })
})

test('clients are told the later of two beginnings', () => {
  const filters = { time_cutoff: '2026-01-02T00:00:00Z', updated_at_range: { start: '2026-01-03T00:00:00Z' } }
  expect(toFilterPacket(filters)).toMatchObject({ time_filter_start: '2026-01-03T00:00:00Z', time_filter_end: null })
  expect(toFilterPacket({ tags: [] })).toBeUndefined()
})
