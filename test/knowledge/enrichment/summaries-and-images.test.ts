import type { ImageDescriber, ImageStore, Summarizer, SummaryRequest } from '@inlay/knowledge'
import type { Section } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { makeKnowledge, request, startKnowledge, type TestKnowledge } from '../setup.ts'

const text = (content: string, image: string | null = null): Section => ({
  type: 'text',
  text: content,
  link: null,
  image_file_id: image,
  heading: null,
})
const image = (id: string, heading: string | null = null): Section => ({
  type: 'image',
  image_file_id: id,
  link: 'https://example.com/page',
  heading,
})

/** Words that make a chunk of their own. */
const long = (word: string): string => `${word} ${'filler '.repeat(300)}`

async function searchFor({ knowledge }: TestKnowledge, words: string): Promise<{ content: string; file: unknown }[]> {
  const passages = await knowledge.search({ text: words, limit: 20 })
  return passages.map(({ content, document }) => ({ content, file: document.file_id }))
}

describe('a summarizer', () => {
  function fakeSummarizer(): { summarize: Summarizer; calls: SummaryRequest[] } {
    const calls: SummaryRequest[] = []
    return {
      calls,
      summarize: async (callCount) => {
        calls.push(callCount)
        return callCount.kind === 'document' ? 'Concerns zebras.' : `Placed ${callCount.chunk.split(' ')[0]}-wise.`
      },
    }
  }
  const document = { id: 'a', semantic_identifier: 'Animals', sections: [text(long('stripes')), text(long('hooves'))] }

  test('is asked about the document once and about each chunk, with what it needs to know', async () => {
    const { summarize, calls } = fakeSummarizer()
    const fixture = await startKnowledge({ summarize })
    await fixture.knowledge.accept(request(document), { waitMs: 60_000 })
    const [first, ...others] = calls
    expect(first).toEqual({
      kind: 'document',
      title: 'Animals',
      document: `${long('stripes')}\n\n${long('hooves')}`,
    })
    expect(others.length).toBeGreaterThanOrEqual(2)
    for (const call of others)
      expect(call).toMatchObject({ kind: 'chunk', title: 'Animals', summary: 'Concerns zebras.' })
  })

  test('adds to what is searched and embedded, and nothing to what is shown', async () => {
    const embedder = fakeEmbedder()
    const fixture = await startKnowledge({ summarize: fakeSummarizer().summarize, embedder })
    await fixture.knowledge.accept(request(document), { waitMs: 60_000 })
    const embedded = embedder.calls.flat()
    expect(embedded.every((item) => item.includes('Concerns zebras.'))).toBe(true)
    expect(embedded.some((item) => item.includes('Placed stripes-wise.'))).toBe(true)
    const passages = await fixture.knowledge.search({ text: 'zebras', limit: 20 })
    expect(passages.length).toBeGreaterThan(0)
    expect(JSON.stringify(passages)).not.toMatch(/zebras|wise/i)
    expect((await searchFor(fixture, 'hooves-wise'))[0]!.content).toContain('hooves')
  })

  test('that writes what no index takes adds the rest of it', async () => {
    const embedder = fakeEmbedder()
    const fixture = await startKnowledge({ summarize: async () => 'Concerns\u0000 zebras\uD83E.', embedder })
    await fixture.knowledge.accept(request(document), { waitMs: 60_000 })
    const embedded = embedder.calls.flat()
    expect(embedded.length).toBeGreaterThan(0)
    for (const item of embedded) expect(item).toContain('Concerns zebras.')
  })

  test('is not asked about a document of one chunk, which says itself what it is about', async () => {
    const { summarize, calls } = fakeSummarizer()
    const fixture = await startKnowledge({ summarize })
    await fixture.knowledge.accept(request({ text: 'short' }), { waitMs: 60_000 })
    await fixture.knowledge.accept(request({ id: 'title only', text: '' }), { waitMs: 60_000 })
    expect(calls).toEqual([])
    expect(await searchFor(fixture, 'short')).toHaveLength(1)
  })

  test('is asked again only about chunks that changed; the others keep what was said, and their vectors', async () => {
    const { summarize, calls } = fakeSummarizer()
    const embedder = fakeEmbedder()
    const fixture = await startKnowledge({ summarize, embedder })
    await fixture.knowledge.accept(request(document), { waitMs: 60_000 })
    const [callCount, embedded] = [calls.length, embedder.calls.flat().length]
    await fixture.knowledge.accept(request({ ...document, doc_updated_at: '2026-01-01T00:00:00.000Z' }), {
      waitMs: 60_000,
    })
    expect([calls.length, embedder.calls.flat().length]).toEqual([callCount, embedded])
    await fixture.knowledge.accept(request({ ...document, sections: [...document.sections, text(long('mane'))] }), {
      waitMs: 60_000,
    })
    const added = calls.slice(callCount).filter(({ kind }) => kind === 'chunk')
    expect(added.length).toBeGreaterThan(0)
    for (const call of added) expect(call).toMatchObject({ chunk: expect.not.stringMatching(/stripes|hooves/) })
    expect(await searchFor(fixture, 'stripes-wise')).not.toEqual([])
  })

  test('that fails costs its documents what it would have said, and no more; it is reported once', async () => {
    let calls = 0
    const fixture = await startKnowledge({
      summarize: () => {
        calls++
        return Promise.reject(new Error('down'))
      },
    })
    await fixture.knowledge.accept(request(document), { waitMs: 60_000 })
    expect(await fixture.knowledge.status('a')).toMatchObject({ phase: 'indexed', reason: null })
    expect(await searchFor(fixture, 'hooves')).not.toEqual([])
    expect(fixture.errors).toMatchObject([{ message: expect.stringMatching(/^Summing up/) }])
    expect(calls).toBeLessThanOrEqual(4)
  })

  test('is given the beginning of a very long document, and cut short when it says too much', async () => {
    const calls: SummaryRequest[] = []
    const fixture = await startKnowledge({
      summarize: async (callCount) => {
        calls.push(callCount)
        return 'w '.repeat(10_000)
      },
    })
    await fixture.knowledge.accept(request({ sections: [text(long('begin').repeat(100))] }), { waitMs: 60_000 })
    expect(calls[0]!.document).toHaveLength(60_000)
    for (const row of fixture.index.store.rows) expect(row.searchText.length).toBeLessThan(6000)
  })
})

describe('images', () => {
  const store = (held: Record<string, string>): ImageStore & { reads: string[] } => {
    const reads: string[] = []
    return {
      reads,
      find: async (ids, caller) => ids.filter((id) => id in held && (!caller || held[id] === caller.id)),
      read: async (id) => {
        reads.push(id)
        return id in held ? { bytes: new TextEncoder().encode(id), mediaType: 'image/png' } : undefined
      },
    }
  }
  const describer: ImageDescriber = async (bytes, mediaType) =>
    `A drawing of ${new TextDecoder().decode(bytes)}, as ${mediaType}.`
  const ana = { id: 'ana', scopes: ['ingest'] as const }

  test('that are unknown or of others are refused, each at its place; nothing is stored', async () => {
    const { knowledge } = await makeKnowledge({ images: store({ mine: 'ana', theirs: 'bob' }) })
    const document = request({ sections: [image('mine'), text('x', 'theirs'), text('y', 'unknown'), text('z')] })
    await expect(knowledge.accept(document, { caller: ana })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      data: {
        issues: [
          { loc: ['body', 'document', 'sections', '1', 'image_file_id'], type: 'value_error' },
          { loc: ['body', 'document', 'sections', '2', 'image_file_id'], type: 'value_error' },
        ],
      },
    })
    expect(await knowledge.hasDocuments()).toBe(false)
    expect(await knowledge.accept(request({ sections: [image('mine')] }), { caller: ana })).toMatchObject({
      alreadyExisted: false,
    })
    // The host itself may use any.
    await knowledge.accept(request({ id: 'host', sections: [image('theirs')] }))
  })

  test('belong to the chunks of their section; the text counts, too', async () => {
    const fixture = await startKnowledge({ images: store({ photo: 'ana' }) })
    const sections = [text('plain words'), text('pictured words', 'photo')]
    await fixture.knowledge.accept(request({ sections, file_id: 'raw' }), { waitMs: 60_000 })
    expect(await searchFor(fixture, 'pictured')).toMatchObject([{ file: 'photo' }])
    expect(fixture.index.store.rows.map((row) => row.text)).toEqual(['plain words', 'pictured words'])
  })

  test('without a model leave no trace in the text: no description, no placeholder', async () => {
    const fixture = await startKnowledge({ images: store({ photo: 'ana' }) })
    await fixture.knowledge.accept(request({ sections: [image('photo')] }), { waitMs: 60_000 })
    expect(await fixture.knowledge.status('document')).toMatchObject({ phase: 'indexed', chunkCount: 0 })
    expect(fixture.index.store.rows.map((row) => row.text)).toEqual([''])
  })

  test('are found by what a model says of them, beside the text and alone', async () => {
    const fixture = await startKnowledge({ images: store({ heron: 'ana', otter: 'ana' }), describeImage: describer })
    const sections = [text('pictured words', 'heron'), image('otter', 'Figure 2')]
    await fixture.knowledge.accept(request({ sections }), { waitMs: 60_000 })
    expect(await searchFor(fixture, 'otter')).toEqual([{ content: 'A drawing of otter, as image/png.', file: 'otter' }])
    const [passage] = await fixture.knowledge.search({ text: 'otter figure', limit: 1 })
    expect(passage).toMatchObject({ headings: ['Figure 2'], document: { link: 'https://example.com/page' } })
    expect(await searchFor(fixture, 'heron pictured words')).toEqual([
      { content: 'pictured words\n\nA drawing of heron, as image/png.', file: 'heron' },
    ])
  })

  test('are described once, also when their document changes', async () => {
    const images = store({ heron: 'ana' })
    const fixture = await startKnowledge({ images, describeImage: describer })
    await fixture.knowledge.accept(request({ sections: [text('one', 'heron'), image('heron')] }), { waitMs: 60_000 })
    await fixture.knowledge.accept(request({ sections: [text('two', 'heron')] }), { waitMs: 60_000 })
    expect(images.reads).toEqual(['heron'])
    expect((await searchFor(fixture, 'drawing two')).map(({ content }) => content)).toEqual([
      'two\n\nA drawing of heron, as image/png.',
    ])
  })

  test('that are gone, that cannot be described, or of which nothing is said, are left undescribed', async () => {
    const images = store({ heron: 'ana', otter: 'ana' })
    const fixture = await startKnowledge({ images, describeImage: async () => Promise.reject(new Error('blind')) })
    await fixture.knowledge.accept(request({ sections: [text('words', 'heron'), image('otter')] }), { waitMs: 60_000 })
    expect(await fixture.knowledge.status('document')).toMatchObject({ phase: 'indexed', chunkCount: 1 })
    expect(fixture.errors).toMatchObject([{ message: expect.stringMatching(/^Describing an image/) }])
    const silent = await startKnowledge({
      images: { ...images, read: async () => undefined },
      describeImage: describer,
    })
    await silent.knowledge.accept(request({ sections: [image('heron')] }), { waitMs: 60_000 })
    expect(await silent.knowledge.status('document')).toMatchObject({ phase: 'indexed', chunkCount: 0 })
    expect(silent.errors).toEqual([])
  })

  test('are held by a document from its acceptance on, until a version without them is accepted', async () => {
    const { knowledge } = await makeKnowledge({ images: store({ heron: 'ana', otter: 'ana' }) })
    // Nothing is indexed before the start.
    await knowledge.accept(request({ id: 'waiting', sections: [image('heron')] }))
    expect(await knowledge.namesFile('heron')).toBe(true)
    await knowledge.accept(request({ id: 'waiting', sections: [text('no image')] }))
    expect(await knowledge.namesFile('heron')).toBe(false)
    await knowledge.accept(request({ id: 'waiting', sections: [image('heron')] }))
    await knowledge.start()
    await knowledge.whenIdle()
    await knowledge.accept(request({ id: 'waiting', sections: [image('otter')] }), { waitMs: 60_000 })
    expect([await knowledge.namesFile('heron'), await knowledge.namesFile('otter')]).toEqual([false, true])
  })

  test('are held by the visible version until the next one has been indexed', async () => {
    const { knowledge } = await startKnowledge({ images: store({ heron: 'ana', otter: 'ana' }) })
    await knowledge.accept(request({ sections: [image('heron')] }), { waitMs: 60_000 })
    await knowledge.pairs.update(1, { isPaused: true })
    await knowledge.accept(request({ sections: [image('otter')] }))
    expect([await knowledge.namesFile('heron'), await knowledge.namesFile('otter')]).toEqual([true, true])
    await knowledge.pairs.update(1, { isPaused: false })
    await knowledge.whenIdle()
    expect([await knowledge.namesFile('heron'), await knowledge.namesFile('otter')]).toEqual([false, true])
  })

  test('are shown to those who see a document with them, as long as it has them', async () => {
    const { knowledge } = await startKnowledge({ images: store({ heron: 'ana', otter: 'ana' }) })
    const { id } = await knowledge.pairs.create({ name: 'hidden', isPublic: false, users: ['bob'] })
    await knowledge.accept(request({ id: 'open', sections: [image('heron'), image('heron')] }))
    await knowledge.accept(request({ id: 'closed', sections: [text('x', 'otter')] }, id))
    await knowledge.whenIdle()
    const shown = (name: string, user: string): Promise<boolean> =>
      knowledge.namesFile(name, { caller: { id: user, scopes: ['chat'] } })
    expect([await shown('heron', 'eve'), await shown('otter', 'eve'), await shown('otter', 'bob')]).toEqual([
      true,
      false,
      true,
    ])
    expect([await knowledge.namesFile('otter'), await knowledge.namesFile('unknown')]).toEqual([true, false])
    await knowledge.accept(request({ id: 'open', sections: [text('no image')] }), { waitMs: 60_000 })
    await knowledge.remove('closed')
    expect([await knowledge.namesFile('heron'), await knowledge.namesFile('otter')]).toEqual([false, false])
  })
})
