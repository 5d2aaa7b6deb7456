import { isInlayError } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { createIndexComparison } from '@inlay/knowledge/internal/upkeep/compare-with-records'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { createStore, memoryIndex, type MemoryStore } from '../memory-index.ts'
import { makeKnowledge, makeRecords, request, startKnowledge, type TestKnowledge } from '../setup.ts'
import { cases } from '../../cases.ts'

/** Runs with the full tests alone. */
const atLength = cases(test.skip, test)

/** Runs a process over records and an index. */
async function run(db: Records, store: MemoryStore): Promise<TestKnowledge> {
  return startKnowledge({ db, index: memoryIndex(store) })
}

const copyOf = (store: MemoryStore): MemoryStore => ({ ...store, rows: [...store.rows] })

async function copyRecords(from: Records): Promise<Records> {
  const to = await makeRecords()
  for (const table of ['inlay_documents', 'inlay_contents', 'inlay_document_pairs', 'inlay_spaces'] as const) {
    await to.deleteFrom(table).execute()
    const rows = await from.selectFrom(table).selectAll().execute()
    if (rows.length > 0) await to.insertInto(table).values(rows).execute()
  }
  const counters = await from.selectFrom('inlay_counters').selectAll().execute()
  for (const { name, value } of counters)
    await to
      .updateTable('inlay_counters')
      .set({ value: Number(value) })
      .where('name', '=', name)
      .execute()
  return to
}

async function put({ knowledge }: TestKnowledge, texts: Readonly<Record<string, string>>): Promise<void> {
  await Promise.all(Object.entries(texts).map(([id, text]) => knowledge.accept(request({ id, text }))))
  await knowledge.whenIdle()
}

async function idsOf({ knowledge }: TestKnowledge, text: string): Promise<string[]> {
  const hits = await knowledge.search({ text, limit: 1000 })
  return hits.map(({ document }) => document.document_id).toSorted()
}

const messages = ({ errors }: TestKnowledge): string[] =>
  errors.map((error) => (isInlayError(error) ? error.message : String(error)))

const patient = { timeout: 30_000 }

/** Resolves once no comparison is running. */
function ended(db: Records): Promise<void> {
  const jobs = (): Promise<unknown[]> =>
    db.selectFrom('inlay_job_leases').select('job').where('job', '=', 'compare').execute()
  return expect.poll(jobs, patient).toEqual([])
}

/** Runs a process in which something happens between the list of the index and what is compared with it. */
async function runMeanwhile(
  db: Records,
  store: MemoryStore,
  happen: (opened: TestKnowledge) => Promise<void>,
): Promise<TestKnowledge> {
  const index = memoryIndex(store)
  const listed = Promise.withResolvers<void>()
  const slow = {
    ...index,
    // A search for each document would hold up a flood of them.
    read: () => Promise.reject(new Error('The comparison reads rows one by one.')),
    eachGeneration: async (listener: (generations: readonly string[]) => void) => {
      await index.eachGeneration!(listener)
      await happen(opened)
      listed.resolve()
    },
  }
  const opened = await makeKnowledge({ db, index: slow })
  await opened.knowledge.start()
  await idsOf(opened, 'heron')
  await listed.promise
  await ended(db)
  return opened
}

describe('records and an index of different days', () => {
  test('an older index gets what it lacks, and what it holds alone is kept and reported', async () => {
    const [db, store] = [await makeRecords(), createStore()]
    const first = await run(db, store)
    await put(first, { kept: 'heron', changed: 'heron', deleted: 'heron' })
    const older = copyOf(store)
    await first.knowledge.remove('deleted')
    await put(first, { changed: 'otter', later: 'otter' })
    await first.knowledge.close()
    const keptRow = older.rows.find((row) => row.documentId === 'kept')!
    const second = await run(db, older)
    expect(await idsOf(second, 'heron')).toEqual(['kept'])
    await expect.poll(() => idsOf(second, 'otter'), patient).toEqual(['changed', 'later'])
    await expect
      .poll(() => older.rows.map((row) => row.documentId).toSorted(), patient)
      .toEqual(['changed', 'changed', 'deleted', 'kept', 'later'])
    expect(older.rows).toContain(keptRow)
    expect(await idsOf(second, 'heron')).toEqual(['kept'])
    expect(messages(second)).toEqual([
      expect.stringContaining('in the index but not in the database: 2.'),
      expect.stringContaining('in the database but not in the index: 2.'),
    ])
  })

  test('older records get their documents back, and later ones stay in the index until it is made anew', async () => {
    const [db, store] = [await makeRecords(), createStore()]
    const first = await run(db, store)
    await put(first, { kept: 'heron', changed: 'heron', deleted: 'heron' })
    const older = await copyRecords(db)
    await first.knowledge.remove('deleted')
    await put(first, { changed: 'otter', later: 'otter' })
    await expect.poll(() => store.rows.length, patient).toBe(3)
    await first.knowledge.close()
    const second = await run(older, store)
    expect(await idsOf(second, 'heron')).toEqual(['kept'])
    await expect.poll(() => idsOf(second, 'heron'), patient).toEqual(['changed', 'deleted', 'kept'])
    await expect.poll(async () => (await second.knowledge.readiness()).rebuild, patient).toBeUndefined()
    // What the records lost is not removed, whatever upkeep does.
    const kept = () => store.rows.flatMap(({ documentId, text }) => (text.includes('otter') ? [documentId] : []))
    expect(kept().toSorted()).toEqual(['changed', 'later'])
    const message = 'Versions of documents in the index but not in the database: 2.'
    await expect.poll(async () => (await second.knowledge.readiness()).missingRecords, patient).toContain(message)
    expect(messages(second)).toContainEqual(expect.stringContaining(message))
    expect(await idsOf(second, 'otter')).toEqual([])
    await second.knowledge.reindex()
    await second.knowledge.whenIdle()
    expect((await second.knowledge.readiness()).missingRecords).toBeUndefined()
    expect(await idsOf(second, 'heron')).toEqual(['changed', 'deleted', 'kept'])
  })

  atLength('say so while many documents are indexed again', async () => {
    const [db, store] = [await makeRecords(), createStore()]
    const first = await run(db, store)
    await put(first, { kept: 'heron' })
    const older = copyOf(store)
    await put(first, Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`d${at}`, 'otter'])))
    await first.knowledge.close()
    const second = await run(db, older)
    await idsOf(second, 'otter')
    await expect
      .poll(async () => (await second.knowledge.readiness()).rebuild, { ...patient, interval: 1 })
      .toBe('incomplete')
    await expect.poll(() => older.rows.length, patient).toBe(601)
    await expect.poll(async () => (await second.knowledge.readiness()).rebuild, patient).toBeUndefined()
  })
})

test('nothing is indexed again or removed where both belong together, whatever is written meanwhile', async () => {
  const [db, store] = [await makeRecords(), createStore()]
  const first = await run(db, store)
  await put(first, { kept: 'heron', empty: ' ' })
  await first.knowledge.close()
  const before = store.commits
  const second = await runMeanwhile(db, store, (opened) => put(opened, { kept: 'otter', later: 'otter' }))
  expect(await idsOf(second, 'otter')).toEqual(['kept', 'later'])
  expect(store.commits - before).toBeLessThanOrEqual(2)
  expect(messages(second)).toEqual([])
})

test.each([
  [2, 0],
  [3, 3],
])(
  'of at most %i versions, an index that holds three has %i reported and none removed',
  async (maxGenerations, reported) => {
    const db = await makeRecords()
    const lists = Promise.withResolvers<void>()
    const opened = {
      ...memoryIndex(createStore()),
      read: async () => [{}],
      eachGeneration: async (listener: (generations: readonly string[]) => void) => {
        setTimeout(lists.resolve)
        for (const name of ['a', 'b', 'b', 'c']) listener([`0:${name}`])
      },
    }
    const errors: unknown[] = []
    const comparison = createIndexComparison({
      db,
      maxGenerations,
      owner: 'test',
      now: Date.now,
      onQueued: () => {},
      index: {
        ...opened,
        target: async () => ({ number: 0, hasVectors: false }),
        indexAt: async () => opened,
      } as never,
      onError: (error) => errors.push(error),
    })
    comparison.start()
    comparison.noteOpen()
    await lists.promise
    await ended(db)
    await comparison.close()
    const dead = await db.selectFrom('inlay_dead_generations').select('generations').execute()
    expect([dead, comparison.unknown(0)]).toEqual([[], reported])
    expect(errors).toHaveLength(reported === 0 ? 0 : 1)
  },
)

atLength('a version that is replaced and removed while the records are read is nothing to speak of', async () => {
  const [db, store] = [await makeRecords(), createStore()]
  const first = await run(db, store)
  await put(first, { changed: 'heron' })
  await first.knowledge.close()
  const second = await runMeanwhile(db, store, async (opened) => {
    await put(opened, { changed: 'otter' })
    const dead = (): Promise<unknown[]> => db.selectFrom('inlay_dead_generations').select('id').execute()
    await expect.poll(dead, patient).toEqual([])
  })
  expect(await idsOf(second, 'otter')).toEqual(['changed'])
  expect(messages(second)).toEqual([])
})

atLength('a process compares after another one that was at it and ended before it was done', async () => {
  const [db, store] = [await makeRecords(), createStore()]
  const first = await run(db, store)
  await put(first, { lost: 'heron' })
  await first.knowledge.close()
  store.rows = []
  // Killed a moment ago.
  await db
    .insertInto('inlay_job_leases')
    .values({ job: 'compare', owner: 'killed', lease_until: Date.now() + 4000 })
    .execute()
  const second = await run(db, store)
  expect(await idsOf(second, 'heron')).toEqual([])
  await expect.poll(() => idsOf(second, 'heron'), patient).toEqual(['lost'])
})
