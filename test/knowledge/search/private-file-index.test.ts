import { expect, test } from 'vitest'
import type { PrivateFile } from '@inlay/knowledge'
import { privateFilesPair } from '@inlay/knowledge/internal/access-and-filters/permissions'
import { newGate } from '../../gate.ts'
import { codeOf } from '../../outcomes.ts'
import { memoryIndex } from '../memory-index.ts'
import { makeKnowledge, request, startKnowledge, type TestKnowledge } from '../setup.ts'

const document = (id: string, text: string, more: Partial<PrivateFile> = {}): PrivateFile => ({
  id,
  title: `Title of ${id}`,
  source: 'user_file',
  sections: [{ text }],
  updatedAt: Date.UTC(2026, 0, 12),
  ...more,
})

async function started(): Promise<TestKnowledge> {
  return startKnowledge()
}

const admin = { id: 'root', scopes: ['admin'] as const }

test('a document of the privateFiles is found by its id and by nothing else', async () => {
  const { knowledge } = await started()
  await knowledge.privateFiles.put(document('mine', 'Badgers dig setts.'), { waitMs: 60_000 })
  await knowledge.privateFiles.put(document('other', 'Badgers are nocturnal.'), { waitMs: 60_000 })
  await knowledge.accept(request({ id: 'public', text: 'Badgers live in Europe.' }), { waitMs: 60_000 })

  const results = await knowledge.privateFiles.search({ text: 'badgers', documentIds: ['mine'], limit: 10 })
  expect(results.map((passage) => passage.document.document_id)).toEqual(['mine'])
  expect(results[0]!.document).toMatchObject({ semantic_identifier: 'Title of mine', source_type: 'user_file' })
  expect(await knowledge.privateFiles.search({ text: 'badgers', documentIds: [], limit: 10 })).toEqual([])

  const place = { first: 0, last: 5, chunk: 0 }
  expect(await knowledge.privateFiles.excerpt({ documentId: 'mine', ...place })).toMatchObject({
    content: 'Badgers dig setts.',
  })
  expect(await knowledge.privateFiles.excerpt({ documentId: 'public', ...place })).toBeUndefined()
  expect(await knowledge.excerpt({ documentId: 'mine', ...place, caller: admin })).toBeUndefined()

  for (const caller of [
    undefined,
    admin,
    { id: 'ana', scopes: ['chat'] as const },
    { id: 'inlay:private-files', scopes: [] },
  ]) {
    const passages = await knowledge.search({ text: 'badgers', caller, limit: 10 })
    expect(passages.map((passage) => passage.document.document_id)).toEqual(['public'])
    expect((await knowledge.list({}, { caller })).documents.map(({ documentId }) => documentId)).toEqual(['public'])
    expect(await knowledge.status('mine', { caller })).toBeUndefined()
    expect(await knowledge.sources({ caller })).not.toContain('user_file')
    expect((await knowledge.pairs.list({ caller })).map(({ id }) => id)).toEqual([1])
  }
})

test('nobody writes over a document of the privateFiles, removes it, or reaches its pair', async () => {
  const { knowledge } = await started()
  await knowledge.privateFiles.put(document('mine', 'Badgers dig setts.'), { waitMs: 60_000 })
  expect(await codeOf(knowledge.accept(request({ id: 'mine', text: 'Foxes.' }), { caller: admin }))).toBe(
    'INSUFFICIENT_PERMISSIONS',
  )
  expect(await codeOf(knowledge.accept(request({ id: 'x' }, privateFilesPair), { caller: admin }))).toBe(
    'INSUFFICIENT_PERMISSIONS',
  )
  expect(await codeOf(knowledge.remove('mine', { caller: admin }))).toBe('DOCUMENT_NOT_FOUND')
  expect(await codeOf(knowledge.pairs.update(privateFilesPair, { isPublic: true }))).toBe('CONNECTOR_NOT_FOUND')
  expect(await codeOf(knowledge.pairs.remove(privateFilesPair))).toBe('CONNECTOR_NOT_FOUND')
  expect(await knowledge.privateFiles.search({ text: 'badgers', documentIds: ['mine'], limit: 10 })).toHaveLength(1)
})

test('filters bind on the privateFiles, and no document set reaches it', async () => {
  const { knowledge } = await started()
  await knowledge.privateFiles.put(document('mine', 'Badgers dig setts.'), { waitMs: 60_000 })
  const find = async (filters: object): Promise<number> =>
    (await knowledge.privateFiles.search({ text: 'badgers', documentIds: ['mine'], limit: 10, filters })).length
  expect(await find({ source_type: ['user_file'] })).toBe(1)
  expect(await find({ source_type: ['web'] })).toBe(0)
  expect(await find({ time_cutoff: '2026-01-01T00:00:00Z' })).toBe(1)
  expect(await find({ time_cutoff: '2026-02-01T00:00:00Z' })).toBe(0)
  expect(await find({ document_set: ['any'] })).toBe(0)
})

test('a privateFiles alone is nothing to search, and what is removed from it is gone', async () => {
  const { knowledge } = await started()
  await knowledge.privateFiles.put(document('mine', 'Badgers dig setts.'), { waitMs: 60_000 })
  expect(await knowledge.hasDocuments()).toBe(false)
  await knowledge.privateFiles.remove('mine')
  await knowledge.privateFiles.remove('mine')
  expect(await knowledge.privateFiles.search({ text: 'badgers', documentIds: ['mine'], limit: 10 })).toEqual([])
})

test('the same document again costs no second indexing, another text replaces it', async () => {
  const { knowledge, index } = await started()
  const put = (text: string) => knowledge.privateFiles.put(document('mine', text), { waitMs: 60_000 })
  await put('Badgers dig setts.')
  const rows = (await index.figures()).rows
  await put('Badgers dig setts.')
  expect((await index.figures()).rows).toBe(rows)
  await put('Foxes dig dens.')
  const [passage] = await knowledge.privateFiles.search({ text: 'foxes', documentIds: ['mine'], limit: 10 })
  expect(passage!.content).toContain('Foxes')
})

test('files of one person hold up no file of another', async () => {
  const stored = memoryIndex()
  const gate = newGate()
  const index = {
    ...stored,
    append: async (rows: Parameters<typeof stored.append>[0]) => {
      await gate.pass()
      await stored.append(rows)
    },
  }
  const { knowledge } = await makeKnowledge({ index, worker: { maxClaimDocuments: 1 } })
  const own = Array.from({ length: 60 }, (_, at) => `ana ${at}`)
  for (const id of own) await knowledge.privateFiles.put(document(id, 'Badgers.', { ownerId: 'ana' }))
  await knowledge.start()
  await gate.reached
  await knowledge.privateFiles.put(document('ben', 'Foxes.', { ownerId: 'ben' }))
  gate.open()
  await knowledge.whenIdle()
  const order = stored.store.rows.map(({ documentId }) => documentId)
  expect(order).toHaveLength(61)
  // A few of the first person's are on their way when it comes.
  expect(order.indexOf('ben')).toBeLessThan(30)
})

test('searches of files take the turn of whoever asks', async () => {
  const stored = memoryIndex()
  const gate = newGate()
  const index = {
    ...stored,
    search: async (...query: Parameters<typeof stored.search>) => {
      await gate.pass()
      return stored.search(...query)
    },
  }
  const { knowledge } = await makeKnowledge({ index, searches: { limit: 1, limitPerCaller: 1 } })
  const look = (id: string) =>
    knowledge.privateFiles.search({
      text: 'badgers',
      documentIds: ['mine'],
      limit: 10,
      caller: { id, scopes: ['chat'] },
    })
  const own = look('ana')
  await gate.reached
  expect(await codeOf(look('ana'))).toBe('RATE_LIMITED')
  const other = look('ben')
  gate.open()
  expect(await Promise.all([own, other])).toEqual([[], []])
})
