import { expect, test } from 'vitest'
import {
  everything,
  pageReader,
  readAllFound,
  readNextPage,
  rereadPages,
  type ReadPage,
  type RowPage,
} from '../../../packages/page/src/documents/row-pages.ts'
import type { Service } from '../../../packages/page/src/service/service.ts'

type Query = Parameters<Service['documents']>[0]

/** A service with documents of these ids, newest first, which lists them as the server does. */
function serviceWith(ids: string[]): Pick<Service, 'documents'> & { readonly queries: Query[] } {
  const queries: Query[] = []
  return {
    queries,
    async documents(query) {
      queries.push(query)
      const { limit, after } = query
      const from = after === undefined ? 0 : ids.findIndex((id) => Number(id) < Number(after))
      const page = from < 0 ? [] : ids.slice(from, from + limit)
      const documents = page.map((id) => ({
        document_id: id,
        semantic_id: `Title ${id}`,
        link: '',
        state: 'indexed' as const,
      }))
      return { documents, next: from >= 0 && from + limit < ids.length ? page.at(-1)! : null }
    },
  }
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: from - to + 1 }, (_, at) => String(from - at))
const idsOf = (pages: readonly RowPage[]): string[] => pages.flatMap(({ rows }) => rows.map(({ id }) => id))
const readerOf = (service: Pick<Service, 'documents'>): ReadPage =>
  pageReader(service, { filter: everything, order: 'newest' }, new AbortController().signal)

test('rows are read in pages as they are wanted, none twice and none left out', async () => {
  const service = serviceWith(numbers(2000, 1))
  const read = readerOf(service)
  let pages = await rereadPages([], { first: 0, last: 0 }, read)
  expect(pages.map(({ rows }) => rows.length)).toEqual([100])
  while (pages.at(-1)!.next !== null) pages = await readNextPage(pages, read)
  expect(idsOf(pages)).toEqual(numbers(2000, 1))
  expect(await readNextPage(pages, read)).toBe(pages)
})

test('only pages that are seen are read again, and those behind them stay', async () => {
  const ids = numbers(1000, 1)
  const service = serviceWith(ids)
  const read = readerOf(service)
  let pages = await rereadPages([], { first: 0, last: 450 }, read)
  expect(pages.map(({ rows }) => rows.length)).toEqual([500])
  for (let more = 0; more < 3; more++) pages = await readNextPage(pages, read)
  service.queries.length = 0
  const again = await rereadPages(pages, { first: 510, last: 590 }, read)
  expect(service.queries).toMatchObject([{ limit: 100, after: '501' }])
  expect(again[2]).toBe(pages[2])
  expect(idsOf(again)).toEqual(numbers(1000, 201))
})

test('new and deleted documents leave no gap and no double row', async () => {
  const ids = numbers(500, 1)
  const service = serviceWith(ids)
  const read = readerOf(service)
  let pages = await rereadPages([], { first: 0, last: 20 }, read)
  pages = await readNextPage(pages, read)
  ids.unshift('502', '501')
  pages = await rereadPages(pages, { first: 0, last: 20 }, read)
  // Two rows were pushed out of the first page, so what followed it is read again when it is seen.
  expect(idsOf(pages)).toEqual(numbers(502, 403))
  pages = await readNextPage(pages, read)
  ids.splice(10, 30)
  pages = await rereadPages(pages, { first: 0, last: 150 }, read)
  expect(idsOf(pages)).toEqual(ids.slice(0, idsOf(pages).length))
  expect(new Set(idsOf(pages)).size).toBe(idsOf(pages).length)
})

test('all that a filter finds is named, beyond a thousand and without details', async () => {
  const service = serviceWith(numbers(2345, 1))
  const filter = { state: 'failed', words: ' plan ', set: 3, tag: 'team=HR' } as const
  const documents = await readAllFound(service, filter, new AbortController().signal)
  expect(documents.map(({ id }) => id)).toEqual(numbers(2345, 1))
  expect(documents[0]).toEqual({ id: '2345', title: 'Title 2345' })
  expect(service.queries).toHaveLength(3)
  expect(service.queries[1]).toMatchObject({
    state: 'failed',
    match: 'plan',
    documentSet: 3,
    tag: 'team=HR',
    details: false,
    limit: 1000,
  })
})
