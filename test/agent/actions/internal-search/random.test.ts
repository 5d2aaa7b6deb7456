import fc from '../../../fast-check.ts'
import { expect, test } from 'vitest'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import type { ExcerptReader, Passage, PassageSearch } from '@inlay/agent'
import type { BaseFilters } from '@inlay/protocol'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

const passage = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    first: fc.nat(12),
    length: fc.nat(3),
    score: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    isPlaced: fc.boolean(),
  })
  .map(({ id, first, length, score, isPlaced }): Passage => {
    const span = { first, last: first + length }
    const text = Array.from({ length: length + 1 }, (_, at) => `Chunk ${first + at} of ${id}.`).join('\n\n')
    return { ...newPassage(id, text, { chunk_ind: first, score }), ...(isPlaced ? { span } : {}) }
  })

const number = fc.oneof(fc.integer({ min: -2, max: 40 }), fc.string(), fc.constant(null))
const answer = fc.oneof(
  fc.string(),
  fc.array(number).map((value) => JSON.stringify(value)),
  fc
    .record({ question: fc.oneof(fc.string(), number), keywords: fc.oneof(fc.array(fc.string()), number) })
    .map((value) => `Well: ${JSON.stringify(value)}.`),
)

test('whatever a model answers, a search gives what it found, in order, for the caller and within the filters', async () => {
  const filters: BaseFilters = { source_type: ['web'], document_set: ['HR'] }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(passage, { maxLength: 30 }), { minLength: 1, maxLength: 5 }),
      fc.array(answer, { minLength: 2, maxLength: 2 }),
      fc.array(fc.string(), { maxLength: 5 }),
      fc.integer({ min: 300, max: 4_000 }),
      async (lists, answers, queries, resultTokens) => {
        let count = 0
        const asking = async (): Promise<string> => answers[count++ % answers.length] ?? ''
        const searches: Parameters<PassageSearch>[0][] = []
        const search: PassageSearch = async (query) => lists[(searches.push(query) - 1) % lists.length] ?? []
        const readExcerpt: ExcerptReader = async ({ documentId, first, last }) => {
          const numbers = Array.from({ length: last - first + 1 }, (_, at) => `Chunk ${first + at} of ${documentId}.`)
          return { content: numbers.join('\n\n'), span: { first, last } }
        }
        const { turn, packets } = newTurn({ ask: asking, filters, resultTokens })
        const result = await createInternalSearch({ search, readExcerpt }).run({ queries }, turn)

        for (const { filters: used, caller } of searches) expect([used, caller]).toEqual([filters, turn.caller])
        const given = new Set(lists.flat().map(({ document }) => document.document_id))
        const read = JSON.parse(result.text) as { results: { document: number; content: string }[] }
        expect(read.results.length > 0).toBe((result.foundDocuments ?? []).length > 0)
        for (const { document, content } of read.results) {
          expect(document).toBeGreaterThan(0)
          // A section speaks of one document, and says nothing twice.
          const chunks = content.match(/Chunk \d+ of \w/g) ?? []
          expect(new Set(chunks.map((chunk) => chunk.at(-1))).size).toBeLessThanOrEqual(1)
          expect(new Set(chunks).size).toBe(chunks.length)
        }
        for (const { document_id: id } of [...(result.documents ?? []), ...(result.foundDocuments ?? [])])
          expect(given).toContain(id)
        expect(packets.map(({ type }) => type)).toEqual([
          'search_tool_filter_delta',
          'search_tool_queries_delta',
          ...((result.documents ?? []).length > 0 ? ['search_tool_documents_delta'] : []),
        ])
      },
    ),
    { numRuns: 300 },
  )
})
