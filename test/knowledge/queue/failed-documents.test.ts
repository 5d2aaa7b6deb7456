import { describe, expect, test } from 'vitest'
import { claim, releaseClaim, readRetired } from '@inlay/knowledge/internal/queue/claims'
import { recordFailures } from '@inlay/knowledge/internal/queue/failed-documents'
import { sweepClaims } from '@inlay/knowledge/internal/queue/lapsed-leases'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { fakeEmbedder } from '../fake-embedder.ts'
import { memoryIndex } from '../memory-index.ts'
import { makeRecords, makeWorker, request } from '../setup.ts'

const named = (...ids: string[]): ReturnType<typeof request>[] =>
  ids.map((id) => request({ id, text: `text of ${id}` }))

describe('a clock that is set back by hours', () => {
  test('holds up no document, whether it was tried before or not', async () => {
    let isDown = true
    const { worker, accept, status, clock } = await makeWorker({
      embedder: fakeEmbedder({
        answer: () => {
          if (isDown) throw Object.assign(new Error('down'), { isRetryable: true })
        },
      }),
    })
    await accept(request({ id: 'tried' }))
    await worker.runOnce()
    await accept(request({ id: 'new' }))
    isDown = false
    clock.now -= 6 * 3_600_000
    await worker.runOnce()
    expect([(await status('tried')).phase, (await status('new')).phase]).toEqual(['indexed', 'indexed'])
  })

  test('holds up no new document by minutes either', async () => {
    const { worker, accept, clock } = await makeWorker()
    await accept(request())
    clock.now -= 5 * 60_000
    expect(await worker.runOnce()).toBe(1)
  })

  test('frees what a worker left that vanished before', async () => {
    const [db, index, clock] = [await makeRecords(), memoryIndex(), { now: 1_000_000_000 }]
    const stuck = { at: (step: string) => (step === 'append' ? new Promise<void>(() => {}) : undefined) }
    const vanished = await makeWorker({ db, clock, index, ...stuck })
    await vanished.accept(request())
    void vanished.worker.runOnce()
    await expect.poll(async () => (await vanished.status('document')).phase).toBe('indexing')
    clock.now -= 6 * 3_600_000
    const other = await makeWorker({ db, clock, index })
    await other.worker.runOnce()
    expect((await other.status('document')).phase).toBe('indexed')
  })
})

test('rows that come after their claim was swept and cleared away are cleared away as well', async () => {
  const db = await makeRecords()
  await releaseClaim(db, 'swept long ago', ['late.0', 'late.1'])
  expect((await readRetired(db, 10)).generations).toEqual(['late.0', 'late.1'])
})

describe('a claim whose lease ran out', () => {
  const leaseMs = 1_000
  const take = (db: Records, owner: string, now: number) =>
    claim(db, { owner, now, leaseMs, limit: 10, maxCharacters: 1e6 })

  /** A document that one worker took and lost, and another one took. */
  async function takenTwice() {
    const { db, accept, status } = await makeWorker()
    await accept(request())
    const first = await take(db, 'a', 2_000_000)
    await sweepClaims(db, { now: 2_000_000 + leaseMs + 1 })
    const second = await take(db, 'b', 10_000_000)
    return { db, status, first: first!, second: second! }
  }

  test('has what was written under it removed from the index', async () => {
    const { db, first } = await takenTwice()
    expect((await readRetired(db, 10)).generations).toEqual(first.generations)
  })

  test('can no longer fail a document that another worker has', async () => {
    const { db, status, first, second } = await takenTwice()
    const policy = { maxAttempts: 1, maxOutageAttempts: 1 }
    const failed = [{ id: 'document', attempts: 1, failures: 0, reason: 'Bad', isOutage: false }]
    await recordFailures(db, failed, { claimId: first.id, now: 10_000_000, random: () => 0.5, policy })
    expect((await status('document')).phase).toBe('indexing')
    await recordFailures(db, failed, { claimId: second.id, now: 10_000_000, random: () => 0.5, policy })
    expect((await status('document')).phase).toBe('failed')
  })

  test('and that is gone, with a document left, is cleared up by one of two processes alone', async () => {
    const { db, accept } = await makeWorker()
    await accept(request())
    const lost = await take(db, 'a', 2_000_000)
    await db.deleteFrom('inlay_claims').where('id', '=', lost!.id).execute()
    let other: Awaited<ReturnType<typeof take>>
    // Another process is faster between the look and the change.
    const slower = new Proxy(db, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (name !== 'transaction' || other) return typeof member === 'function' ? member.bind(target) : member
        return () => ({
          execute: async (work: never) => {
            await sweepClaims(db, { now: 2_000_000 })
            other = await take(db, 'b', 10_000_000)
            return target.transaction().execute(work)
          },
        })
      },
    })
    await sweepClaims(slower, { now: 2_000_000 })
    const row = await db.selectFrom('inlay_documents').select(['state', 'claim']).executeTakeFirstOrThrow()
    expect(row).toEqual({ state: 'indexing', claim: other!.id })
  })
})

describe('leases', () => {
  const stuck = { at: (step: string) => (step === 'append' ? new Promise<void>(() => {}) : undefined) }

  test('documents of a worker that vanished are taken up when its lease has run out', async () => {
    const db = await makeRecords()
    const clock = { now: 0 }
    const index = memoryIndex()
    const vanished = await makeWorker({ db, clock, index, ...stuck, worker: { leaseMs: 1000 } })
    await vanished.accept(request())
    void vanished.worker.runOnce()
    await expect.poll(async () => (await vanished.status('document')).phase).toBe('indexing')
    const other = await makeWorker({ db, clock, index })
    expect(await other.worker.runOnce()).toBe(0)
    clock.now = 1001
    expect(await other.worker.runOnce()).toBe(1)
    expect(await other.shown()).toEqual(['some text'])
  })

  test('documents of a worker known to be gone are taken up at once', async () => {
    const db = await makeRecords()
    const gone = await makeWorker({ db, ...stuck, worker: { owner: 'gone' } })
    await gone.accept(request())
    void gone.worker.runOnce()
    await expect.poll(async () => (await gone.status('document')).phase).toBe('indexing')
    const other = await makeWorker({ db, worker: { isGone: (owner) => owner === 'gone' } })
    expect(await other.worker.runOnce()).toBe(1)
  })

  test('a worker that is late in renewing does not take its own documents for abandoned', async () => {
    const gate = Promise.withResolvers<void>()
    const { worker, accept, status, clock } = await makeWorker({
      at: (step) => (step === 'append' ? gate.promise : undefined),
      worker: { leaseMs: 1000 },
    })
    await accept(request())
    const done = worker.runOnce()
    await expect.poll(async () => (await status('document')).phase).toBe('indexing')
    clock.now += 5000
    expect(await worker.runOnce()).toBe(0)
    gate.resolve()
    await done
    expect((await status('document')).phase).toBe('indexed')
  })

  describe('a document that was being indexed when the process ended', () => {
    /** Makes it look as after a kill while `id` was being indexed, as the last one of a claim. */
    async function end({ db }: Awaited<ReturnType<typeof makeWorker>>, id: string): Promise<void> {
      const claim = crypto.randomUUID()
      await db.insertInto('inlay_claims').values({ id: claim, owner: 'x', generations: '[]', lease_until: 0 }).execute()
      await db.updateTable('inlay_documents').set({ state: 'indexing', claim }).where('id', '=', id).execute()
    }

    test('is taken up at once, but alone from the third time on', async () => {
      const fixture = await makeWorker()
      await fixture.accept(...named('deadly', 'harmless', 'harmless too'))
      for (let ends = 1; ends <= 3; ends++) await end(fixture, 'deadly').then(() => sweep(fixture))
      const sizes = [await fixture.worker.runOnce(), await fixture.worker.runOnce(), await fixture.worker.runOnce()]
      expect(sizes.toSorted()).toEqual([0, 1, 2])
    })

    test('waits longer and longer when it happens again and again, and is given up in the end', async () => {
      const fixture = await makeWorker()
      await fixture.accept(...named('deadly'))
      const delays = []
      for (let ends = 1; ends < 20; ends++) {
        await end(fixture, 'deadly')
        await sweep(fixture)
        delays.push((await fixture.status('deadly')).nextTryAt! - fixture.clock.now)
      }
      expect(delays.slice(0, 8)).toEqual([0, 0, 0, 0, 1000, 2000, 4000, 8000])
      expect(delays.at(-1)).toBe(15_000)
      await end(fixture, 'deadly')
      await sweep(fixture)
      expect(await fixture.status('deadly')).toMatchObject({
        phase: 'failed',
        reason: expect.stringMatching(/ended each time/),
      })
    })

    const sweep = (fixture: Awaited<ReturnType<typeof makeWorker>>): Promise<number> =>
      sweepClaims(fixture.db, { now: fixture.clock.now })
  })

  test('a document whose claim is nowhere recorded is taken up all the same', async () => {
    const { worker, accept, db, status } = await makeWorker()
    await accept(request())
    await db.updateTable('inlay_documents').set({ state: 'indexing', claim: 'forgotten' }).execute()
    expect(await worker.runOnce()).toBe(1)
    expect((await status('document')).phase).toBe('indexed')
  })
})

test('a large document is indexed alone, so that small ones do not wait for it', async () => {
  const { db, clock, accept } = await makeWorker()
  for (const [id, length] of [
    ['small', 10],
    ['large', 300_000],
    ['next', 10],
  ] as const)
    await accept(request({ id, text: 'x'.repeat(length) }))
  const take = () => claim(db, { owner: 'me', now: clock.now, leaseMs: 1_000, limit: 10, maxCharacters: 1e6 })
  const taken = [await take(), await take(), await take()]
  expect(taken.map((each) => each?.documentIds)).toEqual([['small'], ['large'], ['next']])
  expect(taken.map((each) => each?.isLarge)).toEqual([false, true, false])
})
