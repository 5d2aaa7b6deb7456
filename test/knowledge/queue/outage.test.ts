import { renewClaim } from '@inlay/knowledge/internal/queue/claims'
import { sweepClaims } from '@inlay/knowledge/internal/queue/lapsed-leases'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { migrateKnowledge } from '@inlay/knowledge'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { Kysely, type KyselyConfig } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { makeRecords, makeWorker, request } from '../setup.ts'

test('an outage that meets a claim of many documents is one transaction', async () => {
  const statements: string[] = []
  const config: KyselyConfig = {
    dialect: nodeSqlite({ file: ':memory:' }),
    log: ({ query }) => void statements.push(query.sql),
  }
  const db: Records = new Kysely(config)
  onTestFinished(() => db.destroy())
  await migrateKnowledge(db)
  const isDown = fakeEmbedder({
    answer: () => {
      throw Object.assign(new Error('down'), { isRetryable: true })
    },
  })
  const { worker, accept, status, errors } = await makeWorker({ db, embedder: isDown })
  await accept(...Array.from({ length: 256 }, (_, at) => request({ id: `d${at}`, text: `text ${at}` })))
  statements.length = 0
  expect(await worker.runOnce()).toBe(256)
  expect(await status('d127')).toMatchObject({ phase: 'pending', attempts: 1, reason: expect.any(String) })
  expect(errors).toHaveLength(1)
  const updates = statements.filter((sql) => /update\s+"?inlay_documents/i.test(sql))
  // One to claim them, one to put them back.
  expect(updates.length).toBeLessThanOrEqual(2)
})

test('a lease that is renewed while it is being judged is not swept', async () => {
  const db = await makeRecords()
  const stuck = (step: string): Promise<void> | undefined =>
    step === 'append' ? new Promise<void>(() => {}) : undefined
  const { worker, accept, status, clock } = await makeWorker({
    db,
    at: stuck,
    worker: { owner: 'slow', leaseMs: 1000 },
  })
  await accept(request())
  void worker.runOnce()
  await expect.poll(async () => (await status('document')).phase).toBe('indexing')
  clock.now += 5000
  const { id } = await db.selectFrom('inlay_claims').select('id').executeTakeFirstOrThrow()
  let renewed: Promise<boolean> | undefined
  const swept = await sweepClaims(db, {
    now: clock.now,
    isHeld: () => {
      // After the claims were read, and before any of them is taken over.
      renewed ??= renewClaim(db, id, clock.now + 1000)
      return false
    },
  })
  await renewed
  expect(swept).toBe(0)
  expect(await status('document')).toMatchObject({ phase: 'indexing' })
  expect(await sweepClaims(db, { now: clock.now + 5000 })).toBe(1)
  expect(await status('document')).toMatchObject({ phase: 'pending' })
})
