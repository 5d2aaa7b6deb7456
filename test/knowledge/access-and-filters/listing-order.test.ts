import { expect, test } from 'vitest'
import { listOrders } from '@inlay/knowledge/internal/schema/list-orders'
import type { Caller, DocumentQuery } from '@inlay/knowledge'
import { makeKnowledge, request } from '../setup.ts'

type Order = DocumentQuery['order'] & {}

const ana: Caller = { id: 'ana', scopes: ['ingest'] }

/** Titles and sizes of which some are the same, and a title longer than what the index holds. */
const documents = [
  { id: 'c', title: 'bravo', length: 40 },
  { id: 'a', title: 'Alpha', length: 900 },
  { id: 'e', title: 'alpha', length: 40 },
  { id: 'b', title: `Gamma ${'g'.repeat(300)}`, length: 20 },
  { id: 'd', title: `gamma ${'g'.repeat(300)} x`, length: 300 },
]

const expected: Readonly<Record<Order, string>> = {
  id: 'abcde',
  id_desc: 'edcba',
  newest: 'dbeac',
  oldest: 'caebd',
  title: 'aecbd',
  title_desc: 'dbcea',
  largest: 'adbec',
  smallest: 'cebda',
}

test('documents are listed in each order, page by page, with filters too', async () => {
  const { knowledge } = await makeKnowledge()
  const hidden = await knowledge.pairs.create({ name: 'HR', isPublic: false, users: ['ben'], groups: [] })
  for (const { id, title, length } of documents)
    await knowledge.accept(request({ id, semantic_identifier: title, title: null, text: 'x'.repeat(length) }))
  await knowledge.accept(request({ id: 'secret', semantic_identifier: 'beta' }, hidden.id))
  for (const order of Object.keys(listOrders) as Order[]) {
    const ids = async (query: DocumentQuery): Promise<string> => {
      const listed: string[] = []
      let after: string | null = null
      do {
        const page = await knowledge.list({ ...query, order, ...(after !== null && { after }) }, { caller: ana })
        listed.push(...page.documents.map(({ documentId }) => documentId))
        after = page.next
      } while (after !== null)
      return listed.join('')
    }
    expect([order, await ids({})]).toEqual([order, expected[order]])
    for (const limit of [1, 2]) expect([order, await ids({ limit })]).toEqual([order, expected[order]])
    const alike = [...expected[order]].filter((id) => 'ae'.includes(id)).join('')
    expect([order, await ids({ limit: 1, match: 'ALPHA' })]).toEqual([order, alike])
    expect([order, await ids({ limit: 1, match: 'a' })]).toEqual([order, expected[order]])
  }
})

test('a cursor of another order is refused', async () => {
  const { knowledge } = await makeKnowledge()
  const refusal = { code: 'INVALID_INPUT', message: expect.stringContaining('in the same order') }
  for (const [order, after] of [
    ['newest', 'a'],
    ['title', 'a'],
    ['title', '[4,1]'],
    ['title', String.raw`["\u0000",1]`],
    ['title', String.raw`["\ud800",1]`],
    ['largest', '["a",1]'],
    ['largest', '{}'],
  ] as const)
    await expect(knowledge.list({ order, after }, { caller: ana })).rejects.toMatchObject(refusal)
})
