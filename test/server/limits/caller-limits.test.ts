import type { CallerLimits, Principal } from '@inlay/protocol'
import { isInlayError } from '@inlay/protocol'
import {
  createUsageLimits,
  createWorkspaceRecords,
  migrateServer,
  type UsageTable,
  type WorkspaceTable,
} from '@inlay/server'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { yieldToEventLoop } from '@inlay/scheduling'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'

const ana: Principal = { id: 'ana', scopes: ['chat'] }
const noon = Date.UTC(2026, 0, 12, 12)

async function newProcesses(limits: CallerLimits) {
  const db = new Kysely<UsageTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(db)
  onTestFinished(() => db.destroy())
  const clock = { time: noon }
  const errors: unknown[] = []
  const start = () => createUsageLimits({ db, now: () => clock.time, limits, onError: (error) => errors.push(error) })
  return { db, clock, errors, start }
}

const refusal = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => (isInlayError(error) ? { code: error.code, message: error.message, ...error.data } : error),
  )

test('a caller is refused once its minute is used up, with figures and the time until the next', async () => {
  const { start, clock } = await newProcesses({ requestsPerMinute: 2 })
  const limits = start()
  clock.time += 15_000
  await limits.take(ana, 'requestsPerMinute')
  await limits.take(ana, 'requestsPerMinute')
  expect(await refusal(limits.take(ana, 'requestsPerMinute'))).toEqual({
    code: 'RATE_LIMITED',
    message: 'You have used 2 of 2 requests a minute: try again in 45 seconds.',
    retryAfterSeconds: 45,
    limit: 'requestsPerMinute',
    of: 'caller',
    used: 2,
    max: 2,
  })
  await limits.take({ ...ana, id: 'ben' }, 'requestsPerMinute')
  clock.time += 45_000
  await limits.take(ana, 'requestsPerMinute')
  await limits.close()
})

test('a clock that ticks while it is read splits no day', async () => {
  const { db, clock } = await newProcesses({})
  const limits = createUsageLimits({
    db,
    now: () => clock.time++,
    limits: { sessionsPerDay: 3, tokensPerDay: 100 },
    onError: (error) => expect.unreachable(String(error)),
  })
  await limits.take(ana, 'sessionsPerDay')
  await limits.take(ana, 'sessionsPerDay')
  await (
    await limits.reserveTokens(ana, 50)
  )(20)
  expect((await limits.used()).map(({ name, used, period }) => [name, used, period]).toSorted()).toEqual([
    ['sessionsPerDay', 2, Date.UTC(2026, 0, 12)],
    ['tokensPerDay', 20, Date.UTC(2026, 0, 12)],
  ])
  await limits.close()
})

test('tokens are counted after they were used, and a day that is used up refuses the next message', async () => {
  const { start, clock } = await newProcesses({ tokensPerDay: 1_000 })
  const limits = start()
  await limits.take(ana, 'tokensPerDay', 0)
  limits.add(ana, 'tokensPerDay', 1_500)
  expect(await refusal(limits.take(ana, 'tokensPerDay', 0))).toMatchObject({ used: 1_500, retryAfterSeconds: 43_200 })
  clock.time += 12 * 3_600_000
  expect(await refusal(limits.take(ana, 'tokensPerDay', 0))).toBeUndefined()
  await limits.close()
})

test('a process that used something early learns a second later what the others have used', async () => {
  const { start, clock } = await newProcesses({ uploadsPerDay: 2 })
  const [first, second] = [start(), start()]
  await first.take(ana, 'uploadsPerDay')
  await first.used()
  await second.take(ana, 'uploadsPerDay')
  await second.used()
  clock.time += 1_000
  expect(await refusal(first.take(ana, 'uploadsPerDay'))).toMatchObject({ code: 'RATE_LIMITED', used: 2 })
  await Promise.all([first.close(), second.close()])
})

test('processes count together, also after a restart', async () => {
  const { start } = await newProcesses({ documentsPerDay: 5 })
  const [first, second] = [start(), start()]
  await first.take(ana, 'documentsPerDay', 2)
  await second.take(ana, 'documentsPerDay', 2)
  await Promise.all([first.close(), second.close()])
  const third = start()
  expect(await refusal(third.take(ana, 'documentsPerDay', 2))).toMatchObject({ used: 4 })
  await third.take(ana, 'documentsPerDay')
  await third.close()
  // Joined with what the others used when its own counts are written.
  await first.take(ana, 'documentsPerDay').catch(() => {})
  await first.close()
  expect(await refusal(first.take(ana, 'documentsPerDay'))).toMatchObject({ code: 'RATE_LIMITED' })
})

test('processes pass no limit together, whatever they take at once', async () => {
  const { start } = await newProcesses({ requestsPerMinute: 30 })
  const processes = [start(), start(), start()]
  const takes = Array.from({ length: 90 }, (_, at) => refusal(processes[at % 3]!.take(ana, 'requestsPerMinute')))
  const refusals = (await Promise.all(takes)).filter((refused) => refused !== undefined)
  expect(refusals).toHaveLength(60)
  expect(new Set(refusals.map((refused) => (refused as { used: number }).used))).toEqual(new Set([30]))
  await Promise.all(processes.map((process) => process.close()))
})

test('larger amounts are taken while they fit', async () => {
  const { start } = await newProcesses({ documentsPerDay: 10 })
  const processes = [start(), start()]
  const takes = [4, 4, 4, 2].map((amount, at) => refusal(processes[at % 2]!.take(ana, 'documentsPerDay', amount)))
  const refusals = await Promise.all(takes)
  expect(refusals.filter((refused) => refused !== undefined)).toHaveLength(1)
  expect(await processes[0]!.used()).toMatchObject([{ used: 10 }])
})

test('what one process has used is known to the others at once', async () => {
  const { start } = await newProcesses({ tokensPerDay: 200 })
  const [first, second] = [start(), start()]
  expect(await refusal(second.take(ana, 'tokensPerDay', 0))).toBeUndefined()
  await first.add(ana, 'tokensPerDay', 250)
  expect(await refusal(second.take(ana, 'tokensPerDay', 0))).toMatchObject({ used: 250 })
})

test('what the limit of all refuses is not counted for the caller', async () => {
  const { db } = await newProcesses({})
  const options = { db, now: () => noon, limits: { sessionsPerDay: 5 }, tenantLimits: { sessionsPerDay: 1 } }
  const limits = createUsageLimits({ ...options, onError: (error) => expect.unreachable(String(error)) })
  await limits.take(ana, 'sessionsPerDay')
  expect(await refusal(limits.take(ana, 'sessionsPerDay'))).toMatchObject({ of: 'tenant', used: 1 })
  expect(await limits.used()).toMatchObject([
    { scope: 'caller', used: 1 },
    { scope: 'tenant', used: 1 },
  ])
})

test('a limit of its own stands in the place of the one for all', async () => {
  const { start } = await newProcesses({ uploadsPerDay: 1 })
  const limits = start()
  const generous = { ...ana, limits: { uploadsPerDay: 3 } }
  for (let count = 0; count < 3; count++) await limits.take(generous, 'uploadsPerDay')
  expect(await refusal(limits.take(generous, 'uploadsPerDay'))).toMatchObject({ max: 3 })
  await limits.take({ ...ana, id: 'ben', limits: {} }, 'uploadsPerDay')
  await limits.close()
})

test('without a limit nothing is counted, and without its table nobody is refused', async () => {
  const { start, db, errors } = await newProcesses({})
  const limits = start()
  await limits.take(ana, 'sessionsPerDay')
  limits.add(ana, 'tokensPerDay', 5)
  await limits.close()
  expect(await db.selectFrom('inlay_usage').selectAll().execute()).toEqual([])
  await db.schema.dropTable('inlay_usage').execute()
  await limits.take({ ...ana, limits: { sessionsPerDay: 1 } }, 'sessionsPerDay')
  expect(errors).toHaveLength(1)
})

test('what a caller has used is forgotten when it is erased', async () => {
  const { start, db } = await newProcesses({ sessionsPerDay: 1 })
  const limits = start()
  await limits.take(ana, 'sessionsPerDay')
  await limits.close()
  await limits.erase('ana')
  expect(await db.selectFrom('inlay_usage').selectAll().execute()).toEqual([])
  await limits.take(ana, 'sessionsPerDay')
  await limits.close()
})

test('minutes and days that are over leave no rows', async () => {
  const { start, db, clock } = await newProcesses({ requestsPerMinute: 9, sessionsPerDay: 9 })
  const limits = start()
  await limits.take(ana, 'requestsPerMinute')
  await limits.take(ana, 'sessionsPerDay')
  await limits.close()
  clock.time += 3 * 86_400_000
  await limits.take(ana, 'requestsPerMinute')
  await limits.close()
  expect(await db.selectFrom('inlay_usage').select(['kind', 'amount']).execute()).toEqual([
    { kind: 'requestsPerMinute', amount: 1 },
  ])
})

test('callers with limits of their own and no key are counted each for itself', async () => {
  const { start } = await newProcesses({})
  const limits = start()
  const [first, second] = ['ana', 'ben'].map((id) => ({ ...ana, id, limits: { sessionsPerDay: 1 } }))
  expect(await refusal(limits.take(first!, 'sessionsPerDay'))).toBeUndefined()
  expect(await refusal(limits.take(second!, 'sessionsPerDay'))).toBeUndefined()
  expect(await refusal(limits.take(first!, 'sessionsPerDay'))).toMatchObject({ of: 'caller', used: 1 })
  await limits.close()
})

test('erasing a caller leaves the counts of a key whose number is the id of the caller', async () => {
  const { start } = await newProcesses({})
  const limits = start()
  const holder: Principal = { ...ana, keyId: 7, limits: { sessionsPerDay: 1 } }
  await limits.take(holder, 'sessionsPerDay')
  await limits.close()
  await limits.erase('7')
  expect(await refusal(limits.take(holder, 'sessionsPerDay'))).toMatchObject({ of: 'key', used: 1 })
  await limits.close()
})

test('what the limit of all gives back is free for the caller at once', async () => {
  const { db, clock, errors } = await newProcesses({})
  const limits = createUsageLimits({
    db,
    now: () => clock.time,
    limits: { documentsPerDay: 2 },
    tenantLimits: { documentsPerDay: 3 },
    onError: (error) => errors.push(error),
  })
  await limits.take({ ...ana, id: 'ben' }, 'documentsPerDay', 2)
  const both = [limits.take(ana, 'documentsPerDay', 2), limits.take(ana, 'documentsPerDay', 1)]
  expect(await Promise.all(both.map(refusal))).toMatchObject([{ of: 'tenant' }, { of: 'caller' }])
  expect(await refusal(limits.take(ana, 'documentsPerDay', 1))).toBeUndefined()
  await limits.close()
})

test('what is used while the database is away is counted once it is back', async () => {
  const { start, db } = await newProcesses({ uploadsPerDay: 1 })
  const limits = start()
  await sql`alter table inlay_usage rename to away`.execute(db)
  expect(await refusal(limits.take(ana, 'uploadsPerDay'))).toBeUndefined()
  await sql`alter table away rename to inlay_usage`.execute(db)
  await limits.close()
  expect(await refusal(start().take(ana, 'uploadsPerDay'))).toMatchObject({ used: 1 })
})

test('while limits are read again, calls go on with those read before, at once for half a second', async () => {
  const { db, clock } = await newProcesses({})
  let reads = 0
  const limits = createUsageLimits({
    db,
    now: () => clock.time,
    limits: { uploadsPerDay: 5 },
    workspace: { get: () => (reads++ === 0 ? Promise.resolve(undefined) : new Promise(() => {})), put: async () => {} },
    onError: () => {},
    syncMs: 20,
  })
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const known = async () => (await limits.inForce()).callers
  await known()
  vi.advanceTimersByTime(15)
  const first = Promise.race([known(), yieldToEventLoop().then(() => 'still waiting')])
  expect([await first, reads]).toEqual([{ uploadsPerDay: 5 }, 2])
  vi.advanceTimersByTime(1_000)
  expect([await known(), reads]).toEqual([{ uploadsPerDay: 5 }, 3])
})

test('what another process has changed is in force for the first request after a pause', async () => {
  const { db } = await newProcesses({})
  const shared = new Kysely<WorkspaceTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(shared)
  onTestFinished(() => shared.destroy())
  const records = createWorkspaceRecords({ db: shared })
  const start = () =>
    createUsageLimits({
      db,
      now: () => noon,
      workspace: records,
      onError: (error) => expect.unreachable(String(error)),
    })
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const [first, second] = [start(), start()]
  await second.checkActive()
  await first.change({ isSuspended: true })
  vi.advanceTimersByTime(60_000)
  await expect(second.checkActive()).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
})

test('a day that is used up exactly refuses the next message', async () => {
  const { start } = await newProcesses({ tokensPerDay: 1_000 })
  const limits = start()
  await limits.add(ana, 'tokensPerDay', 999)
  expect(await refusal(limits.take(ana, 'tokensPerDay', 0))).toBeUndefined()
  await limits.add(ana, 'tokensPerDay', 1)
  expect(await refusal(limits.take(ana, 'tokensPerDay', 0))).toMatchObject({ used: 1_000 })
  await limits.close()
})
