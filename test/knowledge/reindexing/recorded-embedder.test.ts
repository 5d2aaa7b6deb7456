import type { Embedder, Knowledge } from '@inlay/knowledge'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { changeEmbedder } from '@inlay/knowledge/internal/reindexing/index-space'
import { isInlayError } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { createStore, memoryIndex, type MemoryStore } from '../memory-index.ts'
import { makeKnowledge, makeRecords, request, startKnowledge, type TestKnowledge } from '../setup.ts'

/** An embedder whose vectors begin with a number that identifies it. */
function marked(id: string, mark: number, dimensions = 8): Embedder {
  const embed: Embedder['embed'] = async (texts) =>
    texts.map((text) => new Float32Array(dimensions).fill(text.length % 7).fill(mark, 0, 1))
  return { ...fakeEmbedder(), id, dimensions, embed }
}

/** Embedders of processes: two models, the first one with vectors of another length too, and none. */
const settings = {
  a: marked('a', 1),
  longA: marked('a', 2, 16),
  b: marked('b', 3),
  none: undefined,
} as const
type Setting = keyof typeof settings
const names = ['a', 'longA', 'b', 'none'] as const satisfies readonly Setting[]

interface Place {
  readonly db: Records
  readonly store: MemoryStore
  run(setting: Setting, options?: Parameters<typeof makeKnowledge>[0]): Promise<TestKnowledge>
}

async function makePlace(): Promise<Place> {
  const [db, store] = [await makeRecords(), createStore()]
  return {
    db,
    store,
    run: async (setting, options) => {
      return startKnowledge({ db, index: memoryIndex(store), embedder: settings[setting], ...options })
    },
  }
}

const patient = { timeout: 20_000, interval: 10 }
const put = ({ knowledge }: TestKnowledge, id: string): Promise<unknown> =>
  knowledge.accept(request({ id, text: `heron of ${id}` }))
/** Indexes a document in a process that ends. */
async function leaveOld(place: Place, setting: Setting): Promise<void> {
  const { knowledge } = await place.run(setting)
  await knowledge.accept(request({ id: 'old', text: 'heron of old' }), { waitMs: 60_000 })
  await knowledge.close()
}
const herons = async ({ knowledge }: { knowledge: Knowledge }): Promise<string[]> =>
  (await knowledge.search({ text: 'heron', limit: 100 })).map(({ document }) => document.document_id).toSorted()
const messages = ({ errors }: TestKnowledge): string[] =>
  errors.map((error) => (isInlayError(error) ? error.message : String(error)))

/** Marks and lengths of the vectors in all indexes. */
function vectorsOf({ store }: Place): string[] {
  const rows = [store, ...store.beside.values()].flatMap((each) => each.rows)
  return [...new Set(rows.map(({ vector }) => (vector ? `${vector[0]} of ${vector.length}` : 'none')))]
}
const vectors: Readonly<Record<Setting, string>> = { a: '1 of 8', longA: '2 of 16', b: '3 of 8', none: 'none' }

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]))
}
const orders = names.flatMap((left) => permutations(names.filter((name) => name !== left)))

describe.each(names)('documents of %s', (recorded) => {
  test.each(orders.map((order) => [order]))('keep their embedder whoever starts: %j', async (order) => {
    const place = await makePlace()
    await leaveOld(place, recorded)
    const processes: TestKnowledge[] = []
    for (const setting of order) {
      const opened = await place.run(setting)
      processes.push(opened)
      await put(opened, `from ${setting}`)
      for (const each of processes) expect(await herons(each)).toContain('old')
      const { embedder } = await opened.knowledge.figures()
      const isUsed = setting === recorded
      expect([embedder.isUsed, embedder.indexes]).toEqual([isUsed, isUsed || recorded === 'none'])
    }
    // A process with the recorded embedder indexes the documents that the others accepted.
    const last = await place.run(recorded)
    const all = ['old', ...order.map((setting) => `from ${setting}`)].toSorted()
    for (const each of [...processes, last]) await expect.poll(() => herons(each), patient).toEqual(all)
    expect(vectorsOf(place)).toEqual([vectors[recorded]])
    expect(await place.db.selectFrom('inlay_spaces').select('number').execute()).toEqual([{ number: 0 }])
    expect((await last.knowledge.figures()).documents).toEqual({ pending: 0, indexing: 0, indexed: 4, failed: 0 })
    processes.forEach((each, at) => expect(messages(each)).toHaveLength(order[at] === recorded ? 0 : 1))
  })
})

test('a process without the recorded embedder keeps documents for others, and says so once', async () => {
  const place = await makePlace()
  await leaveOld(place, 'a')
  const other = await place.run('none')
  await put(other, 'new')
  expect(await herons(other)).toEqual(['old'])
  expect(await other.knowledge.readiness()).toMatchObject({
    embedder: { recorded: 'a@8', configured: null, isUsed: false, indexes: false },
  })
  expect(messages(other)).toEqual([expect.stringMatching(/vectors of a@8.*no embedding model.*keyword search only/)])
  expect((await other.knowledge.figures()).documents).toMatchObject({ pending: 1, indexed: 1 })
  await expect(other.knowledge.reindex()).rejects.toMatchObject({ code: 'CONFLICT' })
  const [back] = [await place.run('a')]
  await expect.poll(() => herons(other), patient).toEqual(['new', 'old'])
  expect(messages(back)).toEqual([])
})

test('the first document records the embedder, not a process that only starts', async () => {
  const place = await makePlace()
  const command = await place.run('none')
  await command.knowledge.close()
  const server = await place.run('a')
  const later = await place.run('b')
  expect((await server.knowledge.embedder()).isUsed).toBe(true)
  await put(server, 'first')
  await expect.poll(() => herons(server), patient).toEqual(['first'])
  expect(vectorsOf(place)).toEqual([vectors.a])
  await expect.poll(async () => (await later.knowledge.embedder()).recorded, patient).toBe('a@8')
  await server.knowledge.remove('first')
  // Without documents there is nothing that an embedder could be wrong for.
  await put(later, 'second')
  await expect.poll(() => herons(later), patient).toEqual(['second'])
  await expect.poll(async () => (await server.knowledge.embedder()).recorded, patient).toBe('b@8')
})

test('a document that another process accepts meanwhile keeps the embedder from being changed', async () => {
  const place = await makePlace()
  const first = await place.run('a')
  await put(first, 'accepted')
  // The other process has seen no document before.
  const change = { embedder: settings.b, isMovable: true, onlyWithoutDocuments: true }
  expect(await changeEmbedder(place.db, change)).toBe(false)
  expect(await place.db.selectFrom('inlay_spaces').select('embedder').execute()).toEqual([{ embedder: 'a' }])
})

test('a move that a killed process began is carried on by one that was running already', async () => {
  const place = await makePlace()
  const old = await place.run('a')
  const ids = Array.from({ length: 600 }, (_, at) => `d${String(at).padStart(3, '0')}`)
  await Promise.all(ids.map((id) => put(old, id)))
  await old.knowledge.whenIdle()
  const able = await place.run('b')
  // Like a killed process: it starts the move and does nothing more.
  const killed = await makeKnowledge({ db: place.db, index: memoryIndex(place.store), embedder: settings.b })
  expect(await killed.knowledge.reindex({ embedder: true })).toEqual({ documents: 600 })
  await killed.knowledge.close()
  await expect
    .poll(() => place.db.selectFrom('inlay_spaces').select('number').execute(), patient)
    .toEqual([{ number: 1 }])
  expect(vectorsOf(place)).toEqual([vectors.b])
  expect((await able.knowledge.figures()).documents).toEqual({ pending: 0, indexing: 0, indexed: 600, failed: 0 })
  for (const each of [old, able]) expect(await herons(each)).toHaveLength(100)
  expect(messages(old)).toEqual([expect.stringContaining('vectors of b@8')])
})

test('the same model with vectors of another length is another embedder', async () => {
  const place = await makePlace()
  const first = await place.run('a')
  await put(first, 'old')
  await first.knowledge.whenIdle()
  const longer = await place.run('longA')
  expect(await longer.knowledge.embedder()).toMatchObject({
    recorded: 'a@8',
    configured: 'a@16',
    isUsed: false,
    indexes: false,
  })
  expect(await herons(longer)).toEqual(['old'])
  expect(await longer.knowledge.reindex({ embedder: true })).toEqual({ documents: 1 })
  await longer.knowledge.whenIdle()
  await expect.poll(() => vectorsOf(place), patient).toEqual([vectors.longA])
  await expect.poll(() => herons(first), patient).toEqual(['old'])
})

test('a process that does not index changes nothing, and refuses an index that is lost', async () => {
  const place = await makePlace()
  await leaveOld(place, 'a')
  const reader = await place.run('a', { worker: { indexes: false } })
  expect(await herons(reader)).toEqual(['old'])
  await put(reader, 'new')
  await reader.knowledge.close()
  Object.assign(place.store, createStore())
  const late = await place.run('a', { worker: { indexes: false } })
  await expect(herons(late)).rejects.toMatchObject({ code: 'INDEX_MISMATCH', message: expect.stringContaining('lost') })
  expect([place.store.identity, place.store.rows]).toEqual([undefined, []])
  const mending = await place.run('a')
  await mending.knowledge.whenIdle()
  expect(await herons(mending)).toEqual(['new', 'old'])
})
