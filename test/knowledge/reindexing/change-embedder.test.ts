import type { Embedder, Knowledge } from '@inlay/knowledge'
import type { KyselyPlugin } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { changeEmbedder } from '@inlay/knowledge/internal/reindexing/index-space'
import { createMigratingIndex, type TargetSpace } from '@inlay/knowledge/internal/reindexing/migrating-index'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { fakeEmbedder, type FakeEmbedder } from '../fake-embedder.ts'
import { createStore, memoryIndex, type MemoryIndex, type MemoryStore } from '../memory-index.ts'
import { makeKnowledge, makeRecords, makeWorker, request, startKnowledge, type TestKnowledge } from '../setup.ts'

/** An embedder of another space with the same length: only its name differs. */
function embedderOf(name: string): FakeEmbedder {
  return { ...fakeEmbedder(), id: name }
}

/** The embedder, which embeds no document until it is let go. */
function holding(embedder: Embedder): { held: Embedder; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const embed: Embedder['embed'] = async (texts, use, signal) => {
    if (use === 'document') await promise
    return embedder.embed(texts, use, signal)
  }
  return { held: { ...embedder, embed }, release: resolve }
}

/** A place that processes come and go in. */
interface Place {
  readonly db: Records
  readonly store: MemoryStore
  run(embedder: Embedder | undefined, options?: Parameters<typeof makeKnowledge>[0]): Promise<TestKnowledge>
  /** Runs a process whose embedder is to be that of the documents. */
  change(embedder: Embedder | undefined, options?: Parameters<typeof makeKnowledge>[0]): Promise<TestKnowledge>
}

async function makePlace(): Promise<Place> {
  const [db, store] = [await makeRecords(), createStore()]
  const run: Place['run'] = async (embedder, options) => {
    return startKnowledge({ db, index: memoryIndex(store), embedder, ...options })
  }
  const change: Place['change'] = async (embedder, options) => {
    const fixture = await run(embedder, options)
    await fixture.knowledge.reindex({ embedder: true })
    fixture.errors.length = 0
    return fixture
  }
  return { db, store, run, change }
}

/** The index of a place that has room for only one. */
function alone(place: Place): MemoryIndex {
  return { ...memoryIndex(place.store), staging: undefined }
}

const texts = Array.from({ length: 600 }, (_, at) => `animal${at} lives here`)

async function fill({ knowledge }: TestKnowledge, documents = texts): Promise<void> {
  await Promise.all(documents.map((text, at) => knowledge.accept(request({ id: `d${at}`, text }))))
  await knowledge.whenIdle()
}

/** Indexes documents in a process that ends. */
async function leave(place: Place, embedder: Embedder | undefined, documents = texts): Promise<void> {
  const left = await place.run(embedder)
  await fill(left, documents)
  await left.knowledge.close()
}

async function find(knowledge: Knowledge, text: string): Promise<string[]> {
  return (await knowledge.search({ text, limit: 3 })).map(({ content }) => content)
}

test('documents are found all the time while they are brought to another embedder, and then by its vectors', async () => {
  const place = await makePlace()
  await leave(place, embedderOf('a'))
  const embedder = embedderOf('b')
  const { held, release } = holding(embedder)
  const { knowledge, errors } = await place.change(held)
  for (const at of [0, 300, 599]) expect(await find(knowledge, `animal${at}`)).toContain(texts[at])
  expect((await knowledge.figures()).documents).toMatchObject({ pending: expect.any(Number) })
  release()
  await knowledge.whenIdle()
  await vi.waitFor(() => expect(place.store.rows).toEqual([]), { timeout: 60_000 })
  expect(place.store.beside.get(1)!.rows).toHaveLength(texts.length)
  for (const at of [0, 300, 599]) expect(await find(knowledge, `animal${at}`)).toContain(texts[at])
  // Each text once: nothing that the first embedder made was taken over, though its vectors have the same length.
  const embedded = embedder.calls.flat().filter((text) => text.includes('lives here'))
  expect([embedded.length, new Set(embedded).size]).toEqual([texts.length, texts.length])
  expect(await place.db.selectFrom('inlay_spaces').select(['number', 'embedder']).execute()).toEqual([
    { number: 1, embedder: 'b' },
  ])
  expect(errors).toEqual([])
})

test('an embedder that was recorded while another was compared is not reported', async () => {
  const place = await makePlace()
  await leave(place, embedderOf('a'), ['some text'])
  const { promise: isLet, resolve: letAnswer } = Promise.withResolvers<void>()
  let held: unknown
  // The first query of documents is answered late, as by one of several connections.
  const late: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      if (JSON.stringify(node).includes('"inlay_documents"')) held ??= queryId
      return node
    },
    transformResult: async ({ result, queryId }) => {
      if (queryId === held) await isLet
      return result
    },
  }
  const errors: unknown[] = []
  const index = createMigratingIndex({
    db: place.db.withPlugin(late),
    index: memoryIndex(place.store),
    embedder: embedderOf('b'),
    now: Date.now,
    onError: (error) => errors.push(error),
  })
  onTestFinished(() => index.close())
  expect(await index.target()).toBeUndefined()
  await vi.waitFor(() => expect(held).toBeDefined())
  expect(await index.changeEmbedder()).toBe(true)
  // Until here it was right.
  errors.length = 0
  letAnswer()
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors).toEqual([])
  expect(index.knownEmbedder()).toMatchObject({ isUsed: true, indexes: true })
})

test.each([
  ['none to one', undefined, fakeEmbedder()],
  ['one to none', fakeEmbedder(), undefined],
])('from %s', async (_, before, after) => {
  const place = await makePlace()
  await leave(place, before, ['The heron waits.'])
  const { knowledge } = await place.change(after)
  await knowledge.whenIdle()
  expect(await find(knowledge, 'heron')).toEqual(['The heron waits.'])
  expect(place.store.beside.get(1)!.rows).toHaveLength(1)
})

test('changes and deletes win over the move, and an identical document costs nothing', async () => {
  const place = await makePlace()
  await leave(place, embedderOf('a'))
  const { held, release } = holding(embedderOf('b'))
  const { knowledge, errors } = await place.change(held)
  await knowledge.remove('d0')
  await knowledge.accept(request({ id: 'd1', text: 'changed into stork' }))
  expect(await knowledge.accept(request({ id: 'd2', text: texts[2]! }))).toMatchObject({ isUnchanged: true })
  expect(await find(knowledge, 'animal0')).not.toContain(texts[0])
  expect(await find(knowledge, 'animal1')).toContain(texts[1])
  release()
  await knowledge.whenIdle()
  expect(await find(knowledge, 'animal0')).not.toContain(texts[0])
  expect(await find(knowledge, 'animal1')).not.toContain(texts[1])
  expect(await find(knowledge, 'stork')).toContain('changed into stork')
  expect((await knowledge.figures()).documents).toMatchObject({ indexed: texts.length - 1, failed: 0, pending: 0 })
  expect(errors).toEqual([])
})

test('a document that the new embedder refuses stays found where it was', async () => {
  const place = await makePlace()
  const first = await place.run(embedderOf('a'))
  for (const word of ['heron', 'stork']) await first.knowledge.accept(request({ id: word, text: `A ${word}.` }))
  await first.knowledge.whenIdle()
  await first.knowledge.close()
  const inner = embedderOf('b')
  const embedder: Embedder = {
    ...inner,
    embed: async (given, ...rest) => {
      if (given.some((text) => text.includes('A heron.'))) throw new Error('refused')
      return inner.embed(given, ...rest)
    },
  }
  const { knowledge } = await place.change(embedder, { worker: { maxAttempts: 1, pollMs: 5 } })
  await knowledge.whenIdle()
  expect((await knowledge.figures()).documents).toMatchObject({ indexed: 1, failed: 1 })
  expect([(await find(knowledge, 'heron'))[0], (await find(knowledge, 'stork'))[0]]).toEqual(['A heron.', 'A stork.'])
  // It no longer prevents vector search for the others.
  const search = vi.spyOn(inner, 'embed')
  await vi.waitFor(
    async () => {
      await find(knowledge, 'stork')
      expect(search).toHaveBeenCalled()
    },
    { timeout: 60_000, interval: 50 },
  )
})

test('back to the embedder before, in the middle of a move', async () => {
  const place = await makePlace()
  await fill(await place.run(embedderOf('a')))
  const never = new Promise<never>(() => {})
  const second = await place.change({ ...embedderOf('b'), embed: () => never }, { worker: { closeTimeoutMs: 1 } })
  await second.knowledge.accept(request({ id: 'late', text: 'late words' }))
  await second.knowledge.close()
  const { knowledge } = await place.change(embedderOf('a'))
  await knowledge.whenIdle()
  expect((await knowledge.figures()).documents).toMatchObject({ indexed: texts.length + 1 })
  expect(await find(knowledge, 'late')).toContain('late words')
  expect(await find(knowledge, 'animal17')).toContain(texts[17])
})

test('a process of the embedder before still finds all there is, and loses nothing that it takes', async () => {
  const place = await makePlace()
  const old = await place.run(embedderOf('a'))
  await fill(old)
  const fresh = await place.change(embedderOf('b'))
  await fresh.knowledge.whenIdle()
  await vi.waitFor(async () => expect(await find(old.knowledge, 'animal17')).toContain(texts[17]), { timeout: 60_000 })
  await old.knowledge.accept(request({ id: 'late', text: 'late words' }))
  await vi.waitFor(async () => expect(await find(fresh.knowledge, 'late')).toContain('late words'), { timeout: 60_000 })
})

test('an index that has no room for another space keeps its embedder, unless nothing is indexed', async () => {
  const place = await makePlace()
  const first = await place.run(undefined, { index: alone(place) })
  await first.knowledge.close()
  const second = await place.run(fakeEmbedder(), { index: alone(place) })
  await second.knowledge.accept(request())
  await second.knowledge.whenIdle()
  expect(place.store.rows.every((row) => row.vector)).toBe(true)
  await second.knowledge.close()
  const { knowledge } = await place.run(undefined, { index: alone(place) })
  await expect(knowledge.reindex({ embedder: true })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await find(knowledge, 'some')).toEqual(['some text'])
})

describe('without room for another space', () => {
  test('a worker that is about to claim while the first document records the embedder indexes it for that one', async () => {
    const place = await makePlace()
    await (await place.run(undefined, { index: alone(place) })).knowledge.close()
    const embedder = fakeEmbedder()
    const { knowledge } = await makeKnowledge({ db: place.db, index: alone(place), embedder })
    const index = createMigratingIndex({ db: place.db, index: alone(place), embedder, now: Date.now })
    onTestFinished(() => index.close())
    let read = 0
    const target = async (): Promise<TargetSpace | undefined> => {
      const known = await index.target()
      if (read++ === 0) await knowledge.accept(request())
      return known
    }
    const { worker, errors } = await makeWorker({ db: place.db, index: { ...index, ...place }, embedder, target })
    expect([await worker.runOnce(), await worker.runOnce()]).toEqual([0, 1])
    expect(place.store.rows.map(({ vector }) => vector?.length)).toEqual([embedder.dimensions])
    expect(errors).toEqual([])
  })

  test('an index opened before the first document is opened again for its embedder', async () => {
    const place = await makePlace()
    await (await place.run(undefined, { index: alone(place) })).knowledge.close()
    const { promise: isLet, resolve: letOpen } = Promise.withResolvers<void>()
    const { promise: isOpening, resolve: noteOpening } = Promise.withResolvers<void>()
    const spaces: unknown[] = []
    // Like the drivers, it keeps the space of its last `open`. The first one takes long.
    const open: MemoryIndex['open'] = async (space) => {
      noteOpening()
      if (!space) await isLet
      spaces.push(space?.id)
    }
    const { knowledge, errors } = await place.run(fakeEmbedder(), { index: { ...alone(place), open } })
    const early = knowledge.search({ text: 'some', limit: 1 })
    await isOpening
    await knowledge.accept(request())
    letOpen()
    await early
    await knowledge.whenIdle()
    expect(await find(knowledge, 'some')).toEqual(['some text'])
    expect(spaces).toEqual([undefined, fakeEmbedder().id])
    expect(errors).toEqual([])
  })

  test('the embedder of documents that only wait can change; not while they are being indexed or removed', async () => {
    const place = await makePlace()
    const { held, release } = holding(embedderOf('a'))
    const first = await place.run(held, { index: alone(place) })
    await first.knowledge.accept(request({ text: 'The heron waits.' }))
    const claims = (): Promise<unknown[]> => place.db.selectFrom('inlay_claims').select('id').execute()
    await expect.poll(claims).toHaveLength(1)
    const { knowledge } = await makeKnowledge({ db: place.db, index: alone(place), embedder: embedderOf('b') })
    const change = (): Promise<unknown> => knowledge.reindex({ embedder: true })
    await expect(change()).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('try again') })
    release()
    await first.knowledge.whenIdle()
    await expect(change()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('configure the recorded model'),
    })
    await knowledge.remove('document')
    await expect.poll(() => place.store.rows).toEqual([])
    await first.knowledge.close()
    const waiting = await makeKnowledge({ db: place.db, index: alone(place), embedder: embedderOf('a') })
    await waiting.knowledge.accept(request({ text: 'The stork waits.' }))
    await vi.waitFor(change, { timeout: 60_000 })
    await knowledge.start()
    await knowledge.whenIdle()
    expect(await find(knowledge, 'stork')).toEqual(['The stork waits.'])
    expect(await place.db.selectFrom('inlay_spaces').select('embedder').execute()).toEqual([{ embedder: 'b' }])
  })

  test('work for the embedder before is done again, and its rows are removed', async () => {
    const place = await makePlace()
    const { db } = place
    const index = createMigratingIndex({ db, index: alone(place), embedder: embedderOf('a'), now: Date.now })
    onTestFinished(() => index.close())
    const claimed = await makeWorker({ db, index: { ...index, ...place }, embedder: embedderOf('a') })
    await index.recordFirst()
    await claimed.accept(request({ text: 'The heron waits.' }))
    const at: NonNullable<Parameters<typeof makeWorker>[0]>['at'] = async (step) => {
      if (step !== 'settle') return
      // Its lease ran out, and the embedder was changed.
      await db.deleteFrom('inlay_claims').execute()
      await changeEmbedder(db, { embedder: embedderOf('b'), isMovable: false, onlyWithoutDocuments: false })
    }
    const late = await makeWorker({ db, index: { ...index, ...place }, embedder: embedderOf('a'), at })
    await late.worker.runOnce()
    expect(place.store.rows).toHaveLength(1)
    const { knowledge } = await place.run(embedderOf('b'), { index: alone(place) })
    await knowledge.whenIdle()
    await expect
      .poll(() => place.store.rows.map(({ generation }) => generation))
      .toEqual([expect.stringMatching(/^1:/)])
    expect(await find(knowledge, 'heron')).toEqual(['The heron waits.'])
  })
})

test('documents that wait in a paused pair do not hold up the others', async () => {
  const place = await makePlace()
  const first = await place.run(embedderOf('a'))
  await first.knowledge.accept(request({ text: 'The heron waits.' }))
  await first.knowledge.whenIdle()
  const { id } = await first.knowledge.pairs.create({ name: 'paused', isPaused: true })
  await Promise.all(
    texts
      .slice(0, 300)
      .map((text, at) => first.knowledge.accept({ ...request({ id: `p${at}`, text }), cc_pair_id: id })),
  )
  await first.knowledge.close()
  const { knowledge } = await place.change(embedderOf('b'))
  await knowledge.whenIdle()
  expect(place.store.beside.get(1)!.rows.map(({ text }) => text)).toEqual(['The heron waits.'])
})
