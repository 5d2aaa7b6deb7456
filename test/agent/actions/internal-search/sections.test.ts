import { describe, expect, test } from 'vitest'
import { addNeighbours, mergeSections } from '@inlay/agent/internal/actions/internal-search/sections'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import type { ExcerptReader, Passage } from '@inlay/agent'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

/** A section of chunks `first` to `last` of a document whose chunks say their number. */
const section = (id: string, first: number, last: number, more: Partial<Passage['document']> = {}): Passage => ({
  ...newPassage(id, chunks(id, first, last), { chunk_ind: first, ...more }),
  span: { first, last },
})

const chunks = (id: string, first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, at) => `This is chunk number ${first + at} of ${id}.`).join('\n\n')

const shapes = (sections: readonly Passage[]) =>
  sections.map(({ document, span }) => `${document.document_id} ${span?.first}-${span?.last}`)

describe('sections of one document', () => {
  test('that overlap or follow each other become one, at the place of the better', () => {
    const merged = mergeSections([section('a', 2, 3), section('b', 0, 0), section('a', 3, 5), section('a', 6, 6)])
    expect(shapes(merged)).toEqual(['a 2-6', 'b 0-0'])
    expect(merged[0]?.content).toBe(chunks('a', 2, 6))
    expect(merged[0]?.document.chunk_ind).toBe(2)
  })

  test('that a third one joins become one, also when it ranks last', () => {
    const merged = mergeSections([section('b', 0, 0), section('a', 1, 1), section('a', 3, 3), section('a', 2, 2)])
    expect(shapes(merged)).toEqual(['b 0-0', 'a 1-3'])
    expect(merged[1]?.content).toBe(chunks('a', 1, 3))
    expect(merged[1]?.document.chunk_ind).toBe(1)
  })

  test('stay apart with a gap between them, under different links, and beyond eight chunks', () => {
    const apart = [
      [section('a', 0, 1), section('a', 3, 4)],
      [section('a', 0, 1, { link: 'https://one' }), section('a', 2, 3, { link: 'https://two' })],
      [section('a', 0, 4), section('a', 5, 8)],
    ]
    for (const sections of apart) expect(mergeSections(sections)).toHaveLength(2)
  })

  test('of which one holds the other become the larger', () => {
    expect(shapes(mergeSections([section('a', 2, 2), section('a', 0, 7)]))).toEqual(['a 0-7'])
  })

  test('that do not tell where they stand are kept, but not twice', () => {
    const plain = newPassage('a', 'Same text.')
    expect(mergeSections([plain, plain, newPassage('a', 'Other text.')])).toHaveLength(2)
  })
})

describe('neighbours', () => {
  const reader =
    (last: number): ExcerptReader =>
    async ({ documentId, first, last: wanted }) => {
      const end = Math.min(last, wanted)
      return { content: chunks(documentId, first, end), span: { first, last: end } }
    }
  const options = { readExcerpt: reader(9), sections: 2, chunks: 1, maxTokens: 10_000 }

  test('are added to the best sections, within the document', async () => {
    const sections = [section('a', 0, 0), section('b', 9, 9), section('c', 4, 4)]
    const grown = await addNeighbours(sections, newTurn().turn, options)
    expect(shapes(grown)).toEqual(['a 0-1', 'b 8-9', 'c 4-4'])
    expect(grown[1]?.content).toBe(chunks('b', 8, 9))
  })

  test('that meet become one section', async () => {
    const grown = await addNeighbours([section('a', 2, 2), section('a', 5, 5)], newTurn().turn, options)
    expect(shapes(grown)).toEqual(['a 1-6'])
    expect(grown[0]?.content).toBe(chunks('a', 1, 6))
  })

  test('never displace a section that was found', async () => {
    const sections = [section('a', 2, 2), section('b', 2, 2)]
    expect(await addNeighbours(sections, newTurn().turn, { ...options, maxTokens: 20 })).toEqual(sections)
  })

  test('are not taken from a document that changed or went in the meantime', async () => {
    const changed: ExcerptReader = async ({ first, last }) => ({
      content: 'Something else altogether stands here now, and it is long enough.'.repeat(3),
      span: { first, last },
    })
    for (const readExcerpt of [changed, async () => undefined]) {
      const sections = [section('a', 2, 2)]
      expect(await addNeighbours(sections, newTurn().turn, { ...options, readExcerpt })).toEqual(sections)
    }
  })

  test('are read for the caller, where a model answers that can use them', async () => {
    const requests: unknown[] = []
    const readExcerpt: ExcerptReader = async (query) => (requests.push(query.caller), reader(9)(query))
    const action = createInternalSearch({ search: async () => [section('a', 2, 2)], readExcerpt })
    const quoting = await action.run({ queries: ['q'] }, newTurn().turn)
    expect(requests).toEqual([])
    const { turn } = newTurn({ ask: async () => '' })
    const reading = await action.run({ queries: ['q'] }, turn)
    expect(requests).toEqual([turn.caller])
    expect([quoting, reading].map(({ text }) => text.includes('number 3'))).toEqual([false, true])
  })
})

describe('the document that replaces another one', () => {
  const replaced = (id: string, by: string): Passage => ({
    ...newPassage(id, `Text of ${id}.`),
    replacedBy: { documentId: by, title: `Title of ${by}` },
  })
  const named = async (...passages: Passage[]) => {
    const { text } = await createInternalSearch({ search: async () => passages }).run(
      { queries: ['q'] },
      newTurn().turn,
    )
    return (JSON.parse(text) as { results: { replaced_by?: string }[] }).results.map((result) => result.replaced_by)
  }

  test('is named where the model can read it too', async () => {
    const [old, current] = [replaced('old', 'new'), newPassage('new', 'Text of new.')]
    expect(await named(current, old)).toEqual([undefined, 'Title of new'])
    expect(await named(old, newPassage('other', 'Text of other.'))).toEqual([undefined, undefined])
  })

  test('is not named by documents that replace each other in a circle', async () => {
    const circle = [replaced('a', 'b'), replaced('b', 'c'), replaced('c', 'a')]
    expect(await named(...circle, replaced('d', 'a'))).toEqual([undefined, undefined, undefined, 'Title of a'])
  })
})
