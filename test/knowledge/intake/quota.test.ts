import { expect, test } from 'vitest'
import { makeKnowledge, makeRecords, request, startKnowledge } from '../setup.ts'

const named = (id: string, text = 'some text'): ReturnType<typeof request> => request({ id, text })

test('documents beyond the maximum are refused, with what is stored and what may be', async () => {
  const { knowledge } = await makeKnowledge({ limits: { maxDocuments: 2 } })
  const together = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => knowledge.accept(named(id))))
  expect(together.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  expect(together[2]).toMatchObject({
    reason: {
      code: 'RATE_LIMITED',
      retryable: false,
      message:
        '2 of 2 documents are stored, and 1 more do not fit: delete some, or ask the operator to raise limits.maxDocuments.',
      data: { limit: 'maxDocuments', used: 2, max: 2, of: 'tenant' },
    },
  })
  // A new version needs no room of its own, and a deletion makes room.
  expect(await knowledge.accept(named('a', 'another text'))).toMatchObject({ alreadyExisted: true })
  await knowledge.remove('b')
  expect(await knowledge.accept(named('c'))).toMatchObject({ alreadyExisted: false })
  await expect(knowledge.accept(named('d'))).rejects.toMatchObject({ data: { used: 2 } })
})

test('characters of all documents count, also of what was stored before there was a limit', async () => {
  const db = await makeRecords()
  const before = await makeKnowledge({ db })
  await before.knowledge.accept(named('a', 'x'.repeat(1000)))
  const { knowledge } = await makeKnowledge({ db, limits: { maxDocumentCharacters: 3000 } })
  await knowledge.accept(named('b', 'x'.repeat(1000)))
  const refusal = { code: 'RATE_LIMITED', data: { limit: 'maxDocumentCharacters', max: 3000 } }
  await expect(knowledge.accept(named('c', 'x'.repeat(1000)))).rejects.toMatchObject(refusal)
  await expect(knowledge.accept(named('b', 'x'.repeat(2500)))).rejects.toMatchObject(refusal)
  // Less than before always fits.
  await knowledge.accept(named('b', 'x'))
  await knowledge.accept(named('c', 'x'.repeat(1000)))
})

test('processes that share the records store no more together', async () => {
  const db = await makeRecords()
  const limits = { maxDocuments: 5 }
  const both = [await makeKnowledge({ db, limits }), await makeKnowledge({ db, limits })]
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) => both[at % 2]!.knowledge.accept(named(`document-${at}`))),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  const documents = await db.selectFrom('inlay_documents').select('id').execute()
  expect(documents).toHaveLength(5)
})

test('documents of a removed pair make room once they are deleted', async () => {
  const { knowledge } = await startKnowledge({ limits: { maxDocuments: 1 } })
  const pair = await knowledge.pairs.create({ name: 'A folder' })
  await knowledge.accept(request({ id: 'a' }, pair.id))
  await expect(knowledge.accept(named('b'))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await knowledge.pairs.remove(pair.id)
  await expect
    .poll(() => knowledge.accept(named('b')).catch((error: unknown) => error))
    .toMatchObject({ documentId: 'b' })
})
