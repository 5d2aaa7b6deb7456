import { describe, expect, test } from 'vitest'
import type { Caller } from '@inlay/knowledge'
import { readChunks, readExcerpt, readSize } from '@inlay/knowledge/internal/search/excerpt'
import { findByLink } from '@inlay/knowledge/internal/search/linked-document'
import { makeWorker, request, section, startKnowledge } from '../setup.ts'
import { memoryIndex } from '../memory-index.ts'

const words = (name: string): string => Array.from({ length: 320 }, (_, at) => `${name}${at}`).join(' ')
const sections = ['alpha', 'beta', 'gamma', 'delta'].map((name) => section(words(name), 'https://x.example/one'))

async function filled(more: Parameters<typeof request>[0] = {}) {
  const fixture = await startKnowledge()
  await fixture.knowledge.accept(request({ id: 'doc', sections, ...more }), { waitMs: 60_000 })
  const [passage] = await fixture.knowledge.search({ text: 'beta7', limit: 1 })
  return { ...fixture, passage: passage! }
}

describe('an excerpt', () => {
  test('is what stands around a passage, in the order of the document', async () => {
    const { knowledge, passage } = await filled()
    const { span, document } = passage
    const chunk = document.chunk_ind
    const excerpt = await knowledge.excerpt({ documentId: 'doc', first: 0, last: 99, chunk })
    expect(excerpt?.span.first).toBe(0)
    expect(excerpt?.span.last).toBeGreaterThan(span.last)
    const places = ['alpha7', 'beta7', 'gamma7', 'delta7'].map((word) => excerpt?.content.indexOf(word) ?? -1)
    expect(places).toEqual(places.toSorted((left, right) => left - right))
    expect(places[0]).toBeGreaterThanOrEqual(0)
    expect(await knowledge.excerpt({ documentId: 'doc', ...span, chunk })).toMatchObject({ content: passage.content })
  })

  test('ends where another link begins', async () => {
    const [first, second, third] = sections
    const other = { ...third!, link: 'https://x.example/two' }
    const { knowledge, passage } = await filled({ sections: [first!, second!, other] })
    const excerpt = await knowledge.excerpt({
      documentId: 'doc',
      first: 0,
      last: 99,
      chunk: passage.document.chunk_ind,
    })
    expect(excerpt?.content).toContain('alpha7')
    expect(excerpt?.content).not.toContain('gamma7')
  })

  test('is only there for callers who may see the document, and as long as it is there; so are its chunks', async () => {
    const { knowledge } = await startKnowledge()
    const ana: Caller = { id: 'ana', scopes: ['chat'] }
    const ben: Caller = { id: 'ben', scopes: ['chat'] }
    const pair = await knowledge.pairs.create({ name: 'HR', isPublic: false, users: ['ana'], groups: [] })
    await knowledge.accept(request({ id: 'doc', sections }, pair.id), { waitMs: 60_000 })
    const query = { documentId: 'doc', first: 0, last: 0, chunk: 0 }
    const chunks = { documentId: 'doc', first: 0, limit: 1 }
    expect(await knowledge.chunks({ ...chunks, caller: ana })).toMatchObject({ chunks: [{ position: 0 }], next: 1 })
    expect(await knowledge.chunks({ ...chunks, caller: ben })).toBeUndefined()
    expect(await knowledge.excerpt({ ...query, caller: ana })).toMatchObject({ span: { first: 0, last: 0 } })
    expect(await knowledge.excerpt({ ...query, caller: ben })).toBeUndefined()
    expect(await knowledge.excerpt({ ...query, chunk: 700 })).toBeUndefined()
    await knowledge.remove('doc')
    expect(await knowledge.excerpt({ ...query, caller: ana })).toBeUndefined()
    expect(await knowledge.chunks({ ...chunks, caller: ana })).toBeUndefined()
  })
})

test('a document that is replaced while it is read, and whose old rows are gone at once, is read in its new version', async () => {
  const memory = memoryIndex()
  let updates = 0
  const fixture = await makeWorker({ index: memory })
  const link = 'https://x.example/doc'
  const version = (number: number) => request({ id: 'doc', sections: [section(`version ${number}`, link)] })
  const index = {
    read: async (...given: Parameters<typeof memory.read>) => {
      if (updates++ % 2 === 0) {
        await fixture.accept(version(updates))
        await fixture.worker.runOnce()
        await memory.remove([given[0]])
      }
      return memory.read(...given)
    },
  }
  await fixture.accept(version(0))
  await fixture.worker.runOnce()
  const context = { db: fixture.db, index }
  const query = { documentId: 'doc', first: 0, last: 9, chunk: 0 }
  expect(await readExcerpt(query, context)).toMatchObject({ content: 'version 1' })
  expect(await readChunks({ ...query, limit: 5 }, context)).toMatchObject({ chunks: [{ text: 'version 3' }] })
  expect(await readSize(query, context)).toMatchObject({ chunks: 1 })
  expect(await findByLink({ link }, context)).toMatchObject({ content: 'version 7' })
})
