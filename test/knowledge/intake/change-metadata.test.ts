import { expect, test } from 'vitest'
import type { Caller } from '@inlay/knowledge'
import { documentChangeSchema, parseWith } from '@inlay/protocol'
import { makeKnowledge, request, section, startKnowledge } from '../setup.ts'

const admin: Caller = { id: 'admin', scopes: ['admin'] }

const ana: Caller = { id: 'ana', scopes: ['ingest'] }

test('metadata is set and removed entry by entry, and the document is found by it', async () => {
  const { knowledge } = await startKnowledge()
  const metadata = { team: 'red', kind: ['plan', 'draft'], kept: 'yes' }
  await knowledge.accept(request({ id: 'a b/c', metadata, text: 'Ferries leave at nine.' }), {
    waitMs: 60_000,
  })
  await knowledge.changeDocument('a b/c', { metadata: { team: ['blue', 'green'], kind: null } }, { caller: admin })
  await knowledge.whenIdle()
  const { documents } = await knowledge.list({ withTags: true }, { caller: admin })
  expect(documents.map(({ documentId }) => documentId)).toEqual(['a b/c'])
  expect(documents[0]!.tags!.map(({ key, value }) => `${key}:${value}`)).toEqual([
    'kept:yes',
    'team:blue',
    'team:green',
  ])
  const [passage] = await knowledge.search({
    text: 'ferries',
    caller: admin,
    filters: { tags: [{ tag_key: 'team', tag_value: 'green' }] },
  })
  expect(passage?.content).toContain('Ferries leave at nine.')
  const again = await knowledge.changeDocument('a b/c', { metadata: { kept: 'yes' } }, { caller: admin })
  expect(again.isUnchanged).toBe(true)
})

test('a large document keeps its text', async () => {
  const { knowledge, db } = await makeKnowledge()
  const texts = ['α'.repeat(700_000), '', `${'b'.repeat(500_000)}end`]
  await knowledge.accept(request({ id: 'large', metadata: {}, sections: texts.map((text) => section(text)) }))
  const read = async () => {
    const { large_id: id } = await db.selectFrom('inlay_contents').select('large_id').executeTakeFirstOrThrow()
    const parts = await db
      .selectFrom('inlay_content_parts')
      .select('text')
      .where('large_id', '=', id!)
      .orderBy('position')
      .execute()
    const { document } = await db
      .selectFrom('inlay_large_contents')
      .select('document')
      .where('id', '=', id!)
      .executeTakeFirstOrThrow()
    return { id, text: parts.map(({ text }) => text).join(''), document: JSON.parse(document) as object }
  }
  const before = await read()
  await knowledge.changeDocument('large', { metadata: { team: 'red' } }, { caller: admin })
  const after = await read()
  expect(after.id).not.toBe(before.id)
  expect(after.text === texts.join('')).toBe(true)
  expect(after.document).toEqual({ ...before.document, metadata: { team: 'red' } })
})

test('a large document keeps its text when a hook gives it back', async () => {
  const { knowledge, db } = await makeKnowledge({ hooks: { beforeDocument: async ({ document }) => ({ document }) } })
  const text = 'α'.repeat(1_200_000)
  await knowledge.accept(request({ id: 'large', metadata: {}, sections: [section(text)] }))
  await knowledge.changeDocument('large', { metadata: { team: 'red' } }, { caller: admin })
  const { large_id: id } = await db.selectFrom('inlay_contents').select('large_id').executeTakeFirstOrThrow()
  const parts = await db.selectFrom('inlay_content_parts').select('text').where('large_id', '=', id!).execute()
  expect(parts.map((part) => part.text).join('') === text).toBe(true)
})

test('metadata is stored as that of a new document: what cannot be stored is taken out, odd keys stay', async () => {
  const { knowledge, db } = await makeKnowledge()
  await knowledge.accept(request({ id: 'a', metadata: { ab: 'old', constructor: 'Ann', kept: 'yes' } }))
  const change = JSON.parse(String.raw`{
    "a\u0000b": null, "c\u0000": "\u0000x", "list": ["y\ud800"], "prototype": "p", "__proto__": ["q"]
  }`)
  const body = parseWith(documentChangeSchema, { metadata: change }, 'body')
  await knowledge.changeDocument('a', body, { caller: admin })
  const { content } = await db.selectFrom('inlay_contents').select('content').executeTakeFirstOrThrow()
  const { metadata } = JSON.parse(content) as { metadata: object }
  expect(Object.entries(metadata)).toEqual([
    ['c', 'x'],
    ['constructor', 'Ann'],
    ['kept', 'yes'],
    ['list', ['y']],
    ['prototype', 'p'],
  ])
  const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`k${at}`, 'x']))
  await expect(knowledge.changeDocument('a', { metadata: many }, { caller: admin })).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
  })
})

test.each([['x'], [['x']], [null], [{ x: 1 }], [{ x: ['y', 1] }], [{ x: {} }]])(
  'a change that is no object of texts, lists of texts and null is refused: %j',
  (metadata) => {
    expect(() => parseWith(documentChangeSchema, { metadata }, 'body')).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    )
  },
)

test('is refused for documents that are not there or belong to others, and when another version came meanwhile', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const { knowledge } = await makeKnowledge({
    hooks: {
      async beforeDocument() {
        const act = meanwhile
        meanwhile = undefined
        await act?.()
      },
    },
  })
  const hidden = await knowledge.pairs.create({ name: 'HR', isPublic: false, users: ['ben'], groups: [] })
  await knowledge.accept(request({ id: 'a' }))
  await knowledge.accept(request({ id: 'secret' }, hidden.id))
  for (const id of ['none', 'secret'])
    await expect(knowledge.changeDocument(id, { metadata: { x: 'y' } }, { caller: ana })).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_FOUND',
    })
  meanwhile = () => knowledge.accept(request({ id: 'a', text: 'Newer.' }))
  await expect(knowledge.changeDocument('a', { metadata: { x: 'y' } }, { caller: ana })).rejects.toMatchObject({
    code: 'CONFLICT',
  })
  meanwhile = () => knowledge.remove('a')
  await expect(knowledge.changeDocument('a', { metadata: { x: 'y' } }, { caller: ana })).rejects.toMatchObject({
    code: 'CONFLICT',
  })
})
