import type { Caller, RequeueQuery } from '@inlay/knowledge'
import { countUnpaused, countWaiting } from '@inlay/knowledge/internal/queue/queue-status'
import { expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { makeKnowledge, request, startKnowledge, type TestKnowledge } from '../setup.ts'

/** Documents that have all failed, and an embedder that works from now on. */
async function makeFailures(): Promise<TestKnowledge & { hidden: number }> {
  const service = { isDown: true }
  const embedder = fakeEmbedder({
    answer: () => {
      if (service.isDown) throw new Error('no')
    },
  })
  const fixture = await startKnowledge({ embedder, worker: { maxAttempts: 1, maxOutageAttempts: 1 } })
  const { id: hidden } = await fixture.knowledge.pairs.create({ name: 'hidden', isPublic: false })
  await fixture.knowledge.accept(request({ id: 'web', source: 'web' }))
  await fixture.knowledge.accept(request({ id: 'slack', source: 'slack' }))
  await fixture.knowledge.accept(request({ id: 'hidden', source: 'web' }, hidden))
  await fixture.knowledge.whenIdle()
  service.isDown = false
  return { ...fixture, hidden }
}

const bob: Caller = { id: 'bob', scopes: ['ingest'] }

test.each<[string, RequeueQuery | undefined, Caller | undefined, string[]]>([
  ['all of them', undefined, undefined, ['hidden', 'slack', 'web']],
  ['those the caller may see', {}, bob, ['slack', 'web']],
  ['one', { documentId: 'web' }, undefined, ['web']],
  ['one that the caller may not see', { documentId: 'hidden' }, bob, []],
  ['those of a source', { source: 'web' }, undefined, ['hidden', 'web']],
  ['those of a pair', { pairId: 2 }, undefined, ['hidden']],
  ['those of a pair and a source', { pairId: 1, source: 'web' }, bob, ['web']],
  ['those of a pair the caller may not see', { pairId: 2 }, bob, []],
])('failed documents are tried again: %s', async (_, query, caller, expected) => {
  const { knowledge } = await makeFailures()
  expect((await knowledge.figures()).documents).toMatchObject({ failed: 3 })
  expect(await knowledge.requeue(query, { caller })).toBe(expected.length)
  await knowledge.whenIdle()
  const { documents } = await knowledge.list({ phase: 'indexed' })
  expect(documents.map(({ documentId }) => documentId)).toEqual(expected)
  expect((await knowledge.list({ phase: 'failed' })).documents).toHaveLength(3 - expected.length)
})

test('a document that has not failed is left alone', async () => {
  const { knowledge } = await startKnowledge()
  await knowledge.accept(request(), { waitMs: 60_000 })
  expect(await knowledge.requeue({ documentId: 'document' })).toBe(0)
  expect(await knowledge.status('document')).toMatchObject({ phase: 'indexed' })
})

test('documents that are tried again by two calls at once are counted once', async () => {
  const { knowledge } = await makeFailures()
  const counts = await Promise.all([knowledge.requeue({}), knowledge.requeue({})])
  expect(counts[0] + counts[1]).toBe(3)
})

test('what waits in a paused pair is not waited for', async () => {
  const { knowledge } = await makeKnowledge()
  const { id } = await knowledge.pairs.create({ name: 'Paused', isPublic: true })
  await knowledge.pairs.update(id, { isPaused: true })
  await knowledge.start()
  await knowledge.accept(request({}, id))
  await knowledge.whenIdle()
  expect((await knowledge.status('document'))?.phase).toBe('pending')
})

test('documents of a paused and an active pair count as those that may be indexed now, those of removed pairs do not', async () => {
  // Without a worker, everything waits.
  const { knowledge, db } = await makeKnowledge()
  const { id: paused } = await knowledge.pairs.create({ name: 'paused', isPaused: true })
  const { id: left } = await knowledge.pairs.create({ name: 'left' })
  for (const id of ['both-1', 'both-2'])
    for (const pair of [1, paused]) await knowledge.accept(request({ id, text: 'one text' }, pair))
  await knowledge.accept(request({ id: 'paused' }, paused))
  await knowledge.accept(request({ id: 'left' }, left))
  expect([await countWaiting(db), await countUnpaused(db)]).toEqual([4, 3])
  await db.updateTable('inlay_pairs').set({ is_removed: 1 }).where('id', '=', left).execute()
  expect([await countWaiting(db), await countUnpaused(db)]).toEqual([4, 2])
})
