import type { Caller, DocumentHooks, Knowledge } from '@inlay/knowledge'
import { documentChangeSchema, parseWith, type InlayError } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { makeKnowledge, request, section } from '../setup.ts'

const ana: Caller = { id: 'ana', scopes: ['search', 'ingest'], groups: ['hr'] }
const ben: Caller = { id: 'ben', scopes: ['search', 'ingest'], groups: ['board'] }
const importer: Caller = { id: 'importer', scopes: ['ingest'], groups: ['hr', 'board'] }

async function withTwoPairs(hooks?: DocumentHooks) {
  const parts = await makeKnowledge({ ...(hooks && { hooks }) })
  const { pairs } = parts.knowledge
  const hr = await pairs.create({ name: 'HR', isPublic: false, groups: ['hr'] })
  const board = await pairs.create({ name: 'Board', isPublic: false, groups: ['board'] })
  return { ...parts, hr: hr.id, board: board.id }
}

/** Every way in which a caller meets a document. */
async function met(knowledge: Knowledge, caller: Caller): Promise<Record<string, number>> {
  const [document] = (await knowledge.list({ withTags: true }, { caller })).documents
  return {
    search: (await knowledge.search({ text: 'salaries', caller })).length,
    list: document ? 1 : 0,
    status: (await knowledge.status('pay', { caller })) ? 1 : 0,
    tags: (await knowledge.tags({}, { caller })).length,
    sources: (await knowledge.sources({ caller })).length,
    chunks: (await knowledge.chunks({ documentId: 'pay', first: 0, limit: 1, caller })) ? 1 : 0,
    excerpt: (await knowledge.excerpt({ documentId: 'pay', first: 0, last: 0, chunk: 0, caller })) ? 1 : 0,
    readable: (await knowledge.readable(['pay'], { caller })).size,
    byLink: (await knowledge.byLink({ link: 'https://wiki.example/pay', caller })) ? 1 : 0,
  }
}

const all = (count: 0 | 1) =>
  Object.fromEntries(
    ['search', 'list', 'status', 'tags', 'sources', 'chunks', 'excerpt', 'readable', 'byLink'].map((way) => [
      way,
      count,
    ]),
  )

const pay = (pairId: number, text = 'All salaries.') =>
  request(
    {
      id: 'pay',
      sections: [section(text, 'https://wiki.example/pay')],
      metadata: { team: 'people' },
    },
    pairId,
  )

test('a document sent again under another pair stays with the first group until it is taken out of that pair, at once', async () => {
  const { knowledge, hr, board } = await withTwoPairs()
  await knowledge.start()
  await knowledge.accept(pay(hr), { waitMs: 60_000 })
  await knowledge.accept(pay(board), { waitMs: 60_000 })
  expect([await met(knowledge, ana), await met(knowledge, ben)]).toEqual([all(1), all(1)])
  // Nothing of it is indexed from here on.
  await knowledge.pairs.update(board, { isPaused: true })
  const change = await knowledge.changeDocument('pay', { pairIds: [board] }, { caller: importer })
  expect(change).toEqual({ documentId: 'pay', alreadyExisted: true, isUnchanged: false })
  expect([await met(knowledge, ana), await met(knowledge, ben)]).toEqual([all(0), all(1)])
  expect((await knowledge.status('pay'))?.pairIds).toEqual([board])
})

test('a document is found by a group that it was given to once it is indexed again', async () => {
  const { knowledge, index, hr, board } = await withTwoPairs()
  await knowledge.start()
  await knowledge.accept(pay(hr), { waitMs: 60_000 })
  await knowledge.changeDocument('pay', { pairIds: [board, hr, board] }, { caller: importer })
  expect((await knowledge.status('pay'))?.pairIds).toEqual([hr, board])
  await knowledge.whenIdle()
  expect([await met(knowledge, ana), await met(knowledge, ben)]).toEqual([all(1), all(1)])
  const { commits } = index.store
  const again = await knowledge.changeDocument('pay', { pairIds: [hr, board] }, { caller: importer })
  expect(again.isUnchanged).toBe(true)
  await knowledge.whenIdle()
  expect(index.store.commits).toBe(commits)
})

test('pairs and metadata change together, and a version sent later keeps the pairs', async () => {
  const { knowledge, hr, board } = await withTwoPairs()
  await knowledge.start()
  await knowledge.accept(pay(hr), { waitMs: 60_000 })
  const change = { pairIds: [board], metadata: { team: null, level: 'secret' } }
  await knowledge.changeDocument('pay', change, { caller: importer })
  await knowledge.accept(pay(board, 'New salaries.'))
  await knowledge.whenIdle()
  expect([await met(knowledge, ana), await met(knowledge, ben)]).toEqual([all(0), all(1)])
})

/** A document that is moved to the second group while it is indexed for the first. */
async function movedMeanwhile(second: { readonly isPaused: boolean }) {
  let meanwhile: (() => Promise<unknown>) | undefined
  const parts = await makeKnowledge({
    at: async (step) => {
      if (step !== 'settle') return
      const act = meanwhile
      meanwhile = undefined
      await act?.()
    },
  })
  const { knowledge } = parts
  const hr = await knowledge.pairs.create({ name: 'HR', isPublic: false, groups: ['hr'] })
  const board = await knowledge.pairs.create({ name: 'Board', isPublic: false, ...second, groups: ['board'] })
  meanwhile = () => knowledge.changeDocument('pay', { pairIds: [board.id] })
  await knowledge.start()
  await knowledge.accept(pay(hr.id))
  await knowledge.whenIdle()
  expect(meanwhile).toBeUndefined()
  return { ...parts, board: board.id }
}

test('an index run that started before the change shows the document to nobody whom it was taken from', async () => {
  const { knowledge, index, board } = await movedMeanwhile({ isPaused: false })
  expect([await met(knowledge, ana), await met(knowledge, ben)]).toEqual([all(0), all(1)])
  expect(index.store.rows.at(-1)?.pairs).toEqual([board])
})

test('an index run that started before the change lists no tags to those whom the document was taken from', async () => {
  // Paused, so that no later run makes up for it.
  const { knowledge, board } = await movedMeanwhile({ isPaused: true })
  expect(await knowledge.status('pay')).toMatchObject({ phase: 'pending', pairIds: [board] })
  expect(await met(knowledge, ana)).toEqual(all(0))
})

test('those whom a document is opened to meet it by its tags once they can find it, not before', async () => {
  const { knowledge, hr, board } = await withTwoPairs()
  await knowledge.start()
  await knowledge.accept(pay(hr), { waitMs: 60_000 })
  await knowledge.pairs.update(hr, { isPaused: true })
  await knowledge.pairs.update(board, { isPaused: true })
  await knowledge.accept(pay(board))
  const listed = async (): Promise<unknown> => ({
    found: (await knowledge.search({ text: 'salaries', caller: ben })).length,
    known: (await knowledge.tags({}, { caller: ben })).length,
    shown: (await knowledge.list({ withTags: true }, { caller: ben })).documents[0]?.tags?.length,
    filtered: (await knowledge.list({ tag: 'team=people' }, { caller: ben })).documents.length,
  })
  expect(await listed()).toEqual({ found: 0, known: 0, shown: 0, filtered: 0 })
  await knowledge.pairs.update(board, { isPaused: false })
  await knowledge.whenIdle()
  expect(await listed()).toEqual({ found: 1, known: 1, shown: 1, filtered: 1 })
})

test('a document keeps at least one pair: an empty list is refused and says how to delete it', async () => {
  const read = (ids: unknown) => () => parseWith(documentChangeSchema, { cc_pair_ids: ids }, 'body')
  const refusal = (ids: unknown) => {
    try {
      read(ids)()
    } catch (error) {
      return (error as InlayError).data['issues']
    }
  }
  expect(refusal([])).toMatchObject([{ msg: 'must name a pair: DELETE removes the document' }])
  for (const ids of [0, [0], [-1], ['x'], [1.5], null, Array.from({ length: 1001 }, (_, at) => at + 1)])
    expect(read(ids)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  expect(() => parseWith(documentChangeSchema, {}, 'body')).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED' }),
  )
  const { knowledge, hr } = await withTwoPairs()
  await knowledge.accept(pay(hr))
  await expect(knowledge.changeDocument('pay', { pairIds: [] })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
})

test('a document whose pairs were all deleted is gone, and is no document that could be moved', async () => {
  const { knowledge, hr, board } = await withTwoPairs()
  await knowledge.start()
  await knowledge.accept(pay(hr), { waitMs: 60_000 })
  await knowledge.changeDocument('pay', { pairIds: [board] })
  await knowledge.pairs.remove(board)
  expect([await met(knowledge, ana), await met(knowledge, ben)]).toEqual([all(0), all(0)])
  await expect(knowledge.changeDocument('pay', { pairIds: [hr] })).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' })
})

test('nobody moves a document out of pairs or into pairs that they may not see', async () => {
  const { knowledge, hr, board } = await withTwoPairs()
  await knowledge.accept(pay(hr))
  const into = (pairIds: number[], caller: Caller) => knowledge.changeDocument('pay', { pairIds }, { caller })
  await expect(into([board], ben)).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' })
  await expect(into([board], ana)).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
  await expect(into([99], importer)).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await expect(into([2 ** 31 - 1], importer)).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await expect(into([2 ** 31], importer)).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await knowledge.accept(pay(board))
  for (const caller of [ana, ben])
    await expect(into([hr], caller)).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
  expect((await knowledge.status('pay'))?.pairIds).toEqual([hr, board])
})

test('the hook judges a document for each pair that it comes into, and none keeps a document in a pair', async () => {
  const judged: number[] = []
  const { knowledge, hr, board } = await withTwoPairs({
    beforeDocument: async ({ pairId }) => {
      judged.push(pairId)
      return judged.length > 3 ? { reject: 'Not now.' } : undefined
    },
  })
  await knowledge.accept(pay(hr))
  await knowledge.changeDocument('pay', { pairIds: [hr, board, 1] })
  expect(judged).toEqual([hr, board, 1])
  await knowledge.changeDocument('pay', { pairIds: [board] })
  await expect(knowledge.changeDocument('pay', { pairIds: [hr] })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  expect((await knowledge.status('pay'))?.pairIds).toEqual([board])
})

test('access is changed while the queue is full', async () => {
  const { knowledge } = await makeKnowledge({ maxQueued: 1 })
  const { id } = await knowledge.pairs.create({ name: 'HR', isPublic: false, groups: ['hr'] })
  await knowledge.accept(request({ id: 'pay' }))
  await expect(knowledge.accept(request({ id: 'other' }))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await knowledge.changeDocument('pay', { pairIds: [id] })
  expect((await knowledge.status('pay'))?.pairIds).toEqual([id])
})
