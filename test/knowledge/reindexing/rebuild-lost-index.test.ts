import { isInlayError } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import { describe, expect, test } from 'vitest'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { fakeEmbedder } from '../fake-embedder.ts'
import { createStore, memoryIndex, type MemoryStore } from '../memory-index.ts'
import { makeRecords, request, startKnowledge, type makeKnowledge, type TestKnowledge } from '../setup.ts'

/** Records and an index that processes come to and go from. */
interface Place {
  readonly db: Records
  readonly store: MemoryStore
  run(options?: Parameters<typeof makeKnowledge>[0]): Promise<TestKnowledge>
}

async function makePlace(): Promise<Place> {
  const [db, store] = [await makeRecords(), createStore()]
  const run: Place['run'] = async (options) => {
    return startKnowledge({ db, index: memoryIndex(store), ...options })
  }
  return { db, store, run }
}

const lose = (store: MemoryStore): void => void Object.assign(store, createStore())

async function fill({ knowledge }: TestKnowledge, count = 3): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => `d${at}`)
  await Promise.all(ids.map((id) => knowledge.accept(request({ id, text: `heron of ${id}` }))))
  await knowledge.whenIdle()
}

const herons = async ({ knowledge }: TestKnowledge): Promise<string[]> =>
  (await knowledge.search({ text: 'heron', limit: 100 })).map(({ document }) => document.document_id).toSorted()

const messages = ({ errors }: TestKnowledge): string[] =>
  errors.map((error) => (isInlayError(error) ? error.message : String(error)))

describe('an index that is gone', () => {
  test('is noticed at the next start, told, and filled again from the records', async () => {
    const place = await makePlace()
    const first = await place.run()
    await fill(first, 600)
    await first.knowledge.close()
    lose(place.store)
    const second = await place.run()
    expect(messages(second)).toEqual([expect.stringContaining('The index is lost.')])
    expect((await second.knowledge.figures()).rebuild).toMatchObject({ reason: 'lost' })
    expect(await second.knowledge.readiness()).toMatchObject({ rebuild: 'lost' })
    await second.knowledge.whenIdle()
    expect(await herons(second)).toHaveLength(100)
    expect((await second.knowledge.figures()).documents).toMatchObject({ indexed: 600, failed: 0 })
    expect((await second.knowledge.figures()).rebuild).toBeUndefined()
    await second.knowledge.close()
    const third = await place.run()
    expect(messages(third)).toEqual([])
    expect(await herons(third)).toHaveLength(100)
  })

  test('with vectors is filled again with vectors', async () => {
    const place = await makePlace()
    const first = await place.run({ embedder: fakeEmbedder() })
    await fill(first)
    await first.knowledge.close()
    lose(place.store)
    const second = await place.run({ embedder: fakeEmbedder() })
    await second.knowledge.whenIdle()
    expect(await herons(second)).toEqual(['d0', 'd1', 'd2'])
    expect([...place.store.beside.values()].flatMap(({ rows }) => rows).every((row) => row.vector)).toBe(true)
  })

  test('is no matter when nothing was in it', async () => {
    const place = await makePlace()
    const first = await place.run()
    await first.knowledge.close()
    const second = await place.run()
    expect(messages(second)).toEqual([])
    await fill(second)
    expect(place.store.rows).toHaveLength(3)
  })
})

test('an index that turns out to be damaged is filled again; documents accepted meanwhile are not held up', async () => {
  const place = await makePlace()
  const opened = await place.run()
  await fill(opened)
  place.store.isDamaged = true
  await opened.knowledge.accept(request({ id: 'new', text: 'heron' }))
  await expect.poll(() => herons(opened)).toEqual(['d0', 'd1', 'd2', 'new'])
  expect(messages(opened).filter((message) => message.startsWith('The index is damaged.'))).toHaveLength(1)
})

test('a search that finds the index damaged, and nothing in the new one, is refused for now', async () => {
  const place = await makePlace()
  const opened = await place.run()
  await fill(opened)
  place.store.isDamaged = true
  await expect(herons(opened)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
  await opened.knowledge.whenIdle()
  expect(await herons(opened)).toEqual(['d0', 'd1', 'd2'])
})

test("the index of other records is left alone, and this one's documents get an index of their own", async () => {
  const [place, other] = [await makePlace(), await makePlace()]
  for (const { run } of [place, other]) {
    const opened = await run()
    await fill(opened)
    await opened.knowledge.close()
  }
  const mixed = await startKnowledge({ db: place.db, index: memoryIndex(other.store) })
  await mixed.knowledge.whenIdle()
  expect(messages(mixed)).toEqual([expect.stringContaining('does not belong')])
  expect(await herons(mixed)).toEqual(['d0', 'd1', 'd2'])
  await mixed.knowledge.close()
  const back = await other.run()
  expect(messages(back)).toEqual([])
  expect(await herons(back)).toEqual(['d0', 'd1', 'd2'])
})

test('on request everything is indexed again, and found all the time', async () => {
  const place = await makePlace()
  const opened = await place.run()
  await fill(opened, 600)
  const seen: number[] = []
  expect(await opened.knowledge.reindex()).toEqual({ documents: 600 })
  const settled = opened.knowledge.whenIdle()
  let isOver = false
  void settled.then(() => (isOver = true))
  while (!isOver) {
    seen.push((await herons(opened)).length)
    await yieldToEventLoop()
  }
  expect(Math.min(...seen)).toBe(100)
  expect(place.store.rows).toEqual([])
  expect(await herons(opened)).toHaveLength(100)
  expect(messages(opened)).toEqual([])
})

test('two processes that find the same index lost make one of it', async () => {
  const place = await makePlace()
  const first = await place.run()
  await fill(first)
  await first.knowledge.close()
  lose(place.store)
  const both = await Promise.all([place.run(), place.run()])
  await Promise.all(both.map(({ knowledge }) => knowledge.whenIdle()))
  for (const opened of both) expect(await herons(opened)).toEqual(['d0', 'd1', 'd2'])
  expect(await place.db.selectFrom('inlay_spaces').select('number').where('phase', '=', 'open').execute()).toEqual([
    { number: 1 },
  ])
})
