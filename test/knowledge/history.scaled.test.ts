import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cases } from '../cases.ts'
import { createStore, memoryIndex, type MemoryStore } from './memory-index.ts'
import { makeKnowledge, makeRecords, request } from './setup.ts'

/** One operation a client saw the answer of. Times are counted, not measured. */
interface Operation {
  readonly kind: 'post' | 'delete'
  readonly id: string
  /** Names the version posted; found by it. */
  readonly version: number
  readonly began: number
  ended: number
  /** For a post: the value of `already_existed`; for a delete: whether there was something to delete. */
  existed: boolean
}

/** A small generator, so that a failing history can be had again from its seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Fixture {
  readonly instances: readonly Knowledge[]
  readonly store: MemoryStore
  readonly random: () => number
  readonly history: Operation[]
  readonly errors: readonly unknown[][]
  /** A clock that advances at the start and the end of each operation. */
  readonly tick: () => number
}

/** Two knowledges over one database file and one index, whose steps take random time and whose clocks differ. */
async function makeFixture(seed: number): Promise<Fixture> {
  const random = seeded(seed)
  const folder = await mkdtemp(join(tmpdir(), 'inlay-history-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const store = createStore()
  const created = []
  for (const aheadMs of [0, 10_000]) {
    const db = await makeRecords(join(folder, 'records.db'))
    created.push(
      await makeKnowledge({
        db,
        index: memoryIndex(store),
        // The second clock is so far ahead that it takes every lease of the first for expired, and looks often.
        now: () => Date.now() + aheadMs,
        worker: { maxClaimDocuments: 3, leaseMs: aheadMs > 0 ? 60 : 6000 },
        at: async (step) => {
          if (step !== 'accept' && random() < 0.6) await pause(random() * 12)
        },
      }),
    )
  }
  for (const { knowledge } of created) await knowledge.start()
  let time = 0
  return {
    instances: created.map(({ knowledge }) => knowledge),
    store,
    random,
    history: [],
    errors: created.map(({ errors }) => errors),
    tick: () => time++,
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const wordOf = (version: number): string => `version${version}x`

async function operate(fixture: Fixture, kind: Operation['kind'], id: string): Promise<void> {
  const { random, instances, history, tick } = fixture
  const knowledge = instances[Math.floor(random() * instances.length)]!
  const began = tick()
  const operation: Operation = { kind, id, version: began, began, ended: Infinity, existed: false }
  history.push(operation)
  if (kind === 'post') {
    const text = `${id} ${wordOf(began)}`
    operation.existed = (await knowledge.accept(request({ id, text }))).alreadyExisted
  } else
    operation.existed = await knowledge.remove(id).then(
      () => true,
      (error: unknown) => {
        if (isInlayError(error) && error.code === 'DOCUMENT_NOT_FOUND') return false
        throw error
      },
    )
  operation.ended = tick()
}

/** The versions of a document in search results; `undefined` means none. */
async function shown(fixture: Fixture, id: string): Promise<number | undefined> {
  const knowledge = fixture.instances[Math.floor(fixture.random() * fixture.instances.length)]!
  const passages = (await knowledge.search({ text: id, limit: 50 })).filter(
    ({ document }) => document.document_id === id,
  )
  const versions = new Set(passages.map(({ content }) => Number(/version(\d+)x/.exec(content)![1])))
  expect(versions.size, `versions of ${id} visible at once`).toBeLessThanOrEqual(1)
  return [...versions][0]
}

const changes = ({ kind, existed }: Operation): boolean => kind === 'post' || existed

/** Possible states once all is quiet: outcomes of operations that no other followed. */
function possibleEnds(history: readonly Operation[]): Set<number | undefined> {
  const changing = history.filter(changes)
  const last = changing.filter((item) => !changing.some((other) => other.began > item.ended))
  return new Set(last.map((item) => (item.kind === 'post' ? item.version : undefined)))
}

const seeds = Array.from({ length: cases(1, 6) }, (_, index) => index + 1)

describe('concurrent posts and deletes of the same documents, two knowledges over one database and index', () => {
  test.each(seeds)('end in the last acknowledged version of each, visible once (seed %i)', async (seed) => {
    const fixture = await makeFixture(seed)
    const ids = ['alpha', 'beta', 'gamma']
    const client = async (): Promise<void> => {
      for (let count = 0; count < 25; count++) {
        const id = ids[Math.floor(fixture.random() * ids.length)]!
        await operate(fixture, fixture.random() < 0.75 ? 'post' : 'delete', id)
        if (fixture.random() < 0.5) await pause(fixture.random() * 8)
      }
    }
    await Promise.all([client(), client(), client(), client()])
    await Promise.all(fixture.instances.map((knowledge) => knowledge.whenIdle()))
    for (const id of ids) {
      const history = fixture.history.filter((operation) => operation.id === id)
      const end = await shown(fixture, id)
      expect(possibleEnds(history), `what search shows of ${id}`).toContain(end)
      // Made and removed in turns: one more made than removed exactly when it is there in the end.
      const created = history.filter(({ kind, existed }) => kind === 'post' && !existed).length
      const removed = history.filter(({ kind, existed }) => kind === 'delete' && existed).length
      expect(created - removed).toBe(end === undefined ? 0 : 1)
      expect((await fixture.instances[0]!.status(id))?.phase).toBe(end === undefined ? undefined : 'indexed')
    }
    expect(fixture.errors).toEqual([[], []])
  })

  test.each(seeds)('never show an older version after a newer one, nor a removed one (seed %i)', async (seed) => {
    const fixture = await makeFixture(seed + 100)
    // One writer a document, so that the order of its versions is known.
    const writer = async (id: string): Promise<void> => {
      for (let count = 0; count < 30; count++) {
        await operate(fixture, 'post', id)
        if (fixture.random() < 0.7) await pause(fixture.random() * 25)
        if (fixture.random() < 0.15) {
          await operate(fixture, 'delete', id)
          expect(await shown(fixture, id), `${id} after its removal`).toBeUndefined()
        }
      }
    }
    let isOver = false
    const reader = async (id: string): Promise<void> => {
      for (let newest = -1; !isOver;) {
        const version = await shown(fixture, id)
        expect(version ?? newest, `version of ${id} after ${newest}`).toBeGreaterThanOrEqual(newest)
        newest = version ?? newest
        await pause(fixture.random() * 4)
      }
    }
    const ids = ['alpha', 'beta']
    const reading = Promise.all(ids.map(reader))
    await Promise.all(ids.map(writer))
    await Promise.all(fixture.instances.map((knowledge) => knowledge.whenIdle()))
    isOver = true
    await reading
    for (const id of ids) {
      const posts = fixture.history.filter((operation) => operation.id === id)
      expect(await shown(fixture, id)).toBe(posts.at(-1)!.kind === 'post' ? posts.at(-1)!.version : undefined)
    }
  })

  test('leave no row in the index but those search shows', async () => {
    const fixture = await makeFixture(77)
    for (let count = 0; count < 40; count++)
      await operate(fixture, fixture.random() < 0.8 ? 'post' : 'delete', `document ${count % 5}`)
    await operate(fixture, 'post', 'document 0')
    await Promise.all(fixture.instances.map((knowledge) => knowledge.whenIdle()))
    const { documents } = await fixture.instances[0]!.list()
    await expect.poll(() => fixture.store.rows.length, { timeout: 60_000 }).toBe(documents.length)
  })
})
