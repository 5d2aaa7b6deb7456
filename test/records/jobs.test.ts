import { postgres } from '@inlay/drivers/postgres'
import {
  claimJob,
  createTables,
  holdJob,
  isLeaseHeld,
  jobLeaseTable,
  releaseJob,
  renewJob,
  settleJob,
} from '@inlay/records'
import type { AnyDatabase, ClaimedJob, JobTable } from '@inlay/records'
import { Kysely, type KyselyPlugin } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { poolOf, startPostgres } from '../stand-in/pglite.ts'
import { openFile, type OpenProcess } from './open-file.ts'

const databases = {
  SQLite: openFile,
  Postgres: async (): Promise<OpenProcess> => {
    server ??= startPostgres()
    await (await server).exec('drop table if exists jobs, inlay_job_leases')
    const pool = poolOf(await server)
    return () => new Kysely<Record<string, Record<string, unknown>>>({ dialect: postgres({ pool }) })
  },
}

let server: ReturnType<typeof startPostgres> | undefined
afterAll(async () => (await server)?.close())

const table = 'jobs'
const hourMs = 60 * 60_000
const leaseMs = 1000

/** Makes jobs. @returns opens them in another process, where something happens meanwhile */
async function jobsIn(
  makeDatabase: () => Promise<OpenProcess>,
  ids: readonly string[],
): Promise<(meanwhile?: KyselyPlugin) => JobTable> {
  const openDatabase = await makeDatabase()
  const db = openDatabase()
  await db.schema
    .createTable(table)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('work', 'text')
    .addColumn('claim', 'text')
    .addColumn('due_at', 'bigint')
    .addColumn('attempts', 'integer')
    .execute()
  await db
    .insertInto(table)
    .values(ids.map((id, at) => ({ id, work: 'read', claim: null, due_at: at, attempts: 0 })))
    .execute()
  return (meanwhile) => {
    const opened = openDatabase()
    return { db: meanwhile ? opened.withPlugin(meanwhile) : opened, table }
  }
}

const claimAt = (jobs: JobTable, now: number): Promise<ClaimedJob | undefined> =>
  claimJob(jobs, { column: 'work', now, leaseMs })

/** Runs something once, between the first look of a process at the jobs and its claim. */
function betweenLookAndClaim(happen: () => Promise<unknown>): KyselyPlugin {
  let hasHappened = false
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!hasHappened) {
        hasHappened = true
        await happen()
      }
      return result
    },
  }
}

describe.each(Object.entries(databases))('jobs in %s', (_, makeDatabase) => {
  test('a job that two processes see due is taken by one of them, the other takes the next', async () => {
    const open = await jobsIn(makeDatabase, ['first', 'second'])
    const faster = open()
    let taken: ClaimedJob | undefined
    const race = betweenLookAndClaim(async () => (taken = await claimAt(faster, 10)))
    const slower = open(race)
    const next = await claimAt(slower, 10)
    expect([taken?.id, next?.id]).toEqual(['first', 'second'])
    expect(await claimAt(faster, 10)).toBeUndefined()
    // The claim of the faster one is still valid.
    expect(await settleJob(faster, taken!, { work: null })).toBe(true)
  })

  test('of the only job that two see due the slower one gets nothing', async () => {
    const open = await jobsIn(makeDatabase, ['only'])
    const faster = open()
    let taken: ClaimedJob | undefined
    const race = betweenLookAndClaim(async () => (taken = await claimAt(faster, 10)))
    expect(await claimAt(open(race), 10)).toBeUndefined()
    expect(taken).toMatchObject({ id: 'only', attempts: 1 })
  })

  test('a job that was done between look and claim is not taken', async () => {
    const open = await jobsIn(makeDatabase, ['only'])
    const { db } = open()
    const race = betweenLookAndClaim(() => db.updateTable(table).set({ work: null }).execute())
    expect(await claimAt(open(race), 10)).toBeUndefined()
    expect(await db.selectFrom(table).select(['claim', 'attempts']).execute()).toEqual([{ claim: null, attempts: 0 }])
  })

  test('nobody takes a job while its lease holds, and renewing makes it hold longer', async () => {
    const open = await jobsIn(makeDatabase, ['only'])
    const [own, other] = [open(), open()]
    const job = (await claimAt(own, 0))!
    expect(await claimAt(other, leaseMs - 1)).toBeUndefined()
    expect(await renewJob(own, job, 5 * leaseMs)).toBe(true)
    expect(await claimAt(other, leaseMs)).toBeUndefined()
    expect(await claimAt(other, 5 * leaseMs)).toMatchObject({ id: 'only', attempts: 2 })
  })

  test('what was put off before the clock was set back by hours is due, and what waits for less is not', async () => {
    const open = await jobsIn(makeDatabase, ['put off'])
    const jobs = open()
    const putOffAt = 10 * hourMs
    await settleJob(jobs, (await claimAt(jobs, putOffAt))!, { due_at: putOffAt + hourMs })
    // A machine whose clock is behind by up to an hour leaves it, too.
    for (const behindMs of [0, 1, 5, hourMs]) expect(await claimAt(jobs, putOffAt - behindMs)).toBeUndefined()
    expect(await claimAt(jobs, putOffAt - hourMs - 1)).toMatchObject({ id: 'put off' })
  })

  test('the job that has been due longest comes first, whatever its id', async () => {
    const open = await jobsIn(makeDatabase, ['z', 'y', 'x'])
    const jobs = open()
    await jobs.db.updateTable(table).set({ due_at: 5 }).where('id', '=', 'y').execute()
    const taken = [await claimAt(jobs, 10), await claimAt(jobs, 10), await claimAt(jobs, 10)]
    expect(taken.map((job) => job?.id)).toEqual(['z', 'x', 'y'])
  })

  test('who settles or renews after the lease went to another process changes nothing', async () => {
    const open = await jobsIn(makeDatabase, ['only'])
    const [late, present] = [open(), open()]
    const lost = (await claimAt(late, 0))!
    const held = (await claimAt(present, leaseMs))!
    expect([lost.id, held.id]).toEqual(['only', 'only'])
    expect(await settleJob(late, lost, { work: null })).toBe(false)
    expect(await renewJob(late, lost, 9 * leaseMs)).toBe(false)
    const rows = await present.db.selectFrom(table).select(['work', 'claim', 'due_at']).execute()
    expect(rows.map((row) => ({ ...row, due_at: Number(row['due_at']) }))).toEqual([
      { work: 'read', claim: held.claim, due_at: 2 * leaseMs },
    ])
    expect(await settleJob(present, held, { work: null })).toBe(true)
    // Its claim has ended: it can do nothing more either.
    expect(await settleJob(present, held, { work: 'read' })).toBe(false)
  })
})

describe.each(Object.entries(databases))('leases in %s', (_, makeDatabase) => {
  test('one process holds a job until it gives it back or its lease is over', async () => {
    const openDatabase = await makeDatabase()
    const [first, second] = [openDatabase(), openDatabase()]
    await createTables(first, jobLeaseTable)
    const hold = (db: AnyDatabase, owner: string, now: number): Promise<boolean> =>
      holdJob(db, { job: 'upkeep', owner, now, leaseMs })
    expect(await hold(first, 'a', 0)).toBe(true)
    expect([await hold(second, 'b', leaseMs), await hold(first, 'a', leaseMs)]).toEqual([false, true])
    expect([await hold(second, 'b', 2 * leaseMs), await hold(second, 'b', 2 * leaseMs + 1)]).toEqual([false, true])
    // A process without the lease cannot release the lease of another.
    await releaseJob(first, { job: 'upkeep', owner: 'a' })
    expect(await hold(first, 'a', 2 * leaseMs + 2)).toBe(false)
    await releaseJob(second, { job: 'upkeep', owner: 'b' })
    expect(await hold(first, 'a', 2 * leaseMs + 2)).toBe(true)
  })

  test('the lease of a process that is gone need not run out, that of a living one must', async () => {
    const openDatabase = await makeDatabase()
    const db = openDatabase()
    await createTables(db, jobLeaseTable)
    await holdJob(db, { job: 'upkeep', owner: 'killed', now: 0, leaseMs })
    const as = (isGone: boolean): Promise<boolean> =>
      holdJob(db, { job: 'upkeep', owner: 'b', now: 1, leaseMs, isGone: () => isGone })
    expect([await as(false), await as(true)]).toEqual([false, true])
  })

  test('a lease that was given before the clock was set back by more than two hours does not hold', async () => {
    const openDatabase = await makeDatabase()
    const db = openDatabase()
    await createTables(db, jobLeaseTable)
    const givenAt = 10 * hourMs
    await holdJob(db, { job: 'upkeep', owner: 'a', now: givenAt, leaseMs })
    const hold = (now: number): Promise<boolean> => holdJob(db, { job: 'upkeep', owner: 'b', now, leaseMs })
    // Clocks of machines may differ by less.
    expect(await hold(givenAt + leaseMs - 2 * hourMs)).toBe(false)
    expect(await hold(givenAt + leaseMs - 2 * hourMs - 1)).toBe(true)
  })
})

test.each([
  ['ends now', 5000, true],
  ['is over', 4999, false],
  ['ends in an hour by a clock that is ahead by an hour', 5000 + 2 * hourMs, true],
  ['ends later than any lease, as it was given before the clock was set back', 5001 + 2 * hourMs, false],
])('whether a lease holds that %s', (_, leaseUntil, isHeld) => {
  expect(isLeaseHeld(leaseUntil, 5000)).toBe(isHeld)
})
