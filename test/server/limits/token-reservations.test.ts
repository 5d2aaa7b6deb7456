import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { isInlayError, type CallerLimits, type Principal } from '@inlay/protocol'
import { createUsageLimits, migrateServer, type UsageLimits } from '@inlay/server'
import { Kysely, sql, type Dialect } from 'kysely'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'

const ana: Principal = { id: 'ana', scopes: ['chat'] }
const noon = Date.UTC(2026, 0, 12, 12)
const leaseMs = 60_000
type Settle = Awaited<ReturnType<UsageLimits['reserveTokens']>>

let server: ReturnType<typeof startPostgres> | undefined
afterAll(async () => (await server)?.close())

const dialects = {
  SQLite: async (): Promise<Dialect> => nodeSqlite({ file: ':memory:' }),
  Postgres: async (): Promise<Dialect> => {
    server ??= startPostgres()
    await (await server).exec('drop schema public cascade; create schema public')
    return postgres({ pool: poolOf(await server) })
  },
}

describe.each(['SQLite', 'Postgres'] as const)('tokens of answers under way: %s', (kind) => {
  async function twoProcesses(limits: CallerLimits, tenantLimits: CallerLimits = {}) {
    // oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables
    const db = new Kysely<any>({ dialect: await dialects[kind]() })
    onTestFinished(() => db.destroy())
    await migrateServer(db)
    const clock = { time: noon }
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    onTestFinished(() => expect(errors).toEqual([]))
    const start = () => createUsageLimits({ db, now: () => clock.time, limits, tenantLimits, onError })
    const processes = [start(), start()] as const
    // Otherwise the renewal of what a test left reserved would meet a closed database.
    onTestFinished(async () => void (await Promise.all(processes.map((each) => each.close()))))
    return { db, clock, processes, errors }
  }
  const refusal = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => (isInlayError(error) ? { message: error.message, ...error.data } : error),
    )
  const usedTokens = async (limits: UsageLimits): Promise<number[]> =>
    (await limits.used()).filter(({ name }) => name === 'tokensPerDay').map(({ used }) => used)

  test('two processes start no answer once usage and reservations reach the limit', async () => {
    const { processes } = await twoProcesses({ tokensPerDay: 1_000 })
    const tries = Array.from({ length: 30 }, (_, at) => processes[at % 2]!.reserveTokens(ana, 400))
    const granted = (await Promise.allSettled(tries)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    expect(granted).toHaveLength(3)
    await Promise.all(granted.map((settle) => settle(100)))
    expect(await usedTokens(processes[1])).toEqual([300])
    const more: Settle[] = []
    for (let at = 0; at < 2; at++) more.push(await processes[at]!.reserveTokens(ana, 400))
    expect(await refusal(processes[0].reserveTokens(ana, 400))).toBeDefined()
  })

  test('a limit far below one answer lets a first answer start alone, and says what the next waits for', async () => {
    const { processes } = await twoProcesses({ tokensPerDay: 50 })
    const settle = await processes[0].reserveTokens(ana, 32_000)
    expect(await refusal(processes[1].reserveTokens(ana, 32_000))).toEqual({
      message:
        'You have used 0 of 50 tokens a day, and running answers may use the rest: try again when one of them has ended.',
      retryAfterSeconds: 5,
      limit: 'tokensPerDay',
      of: 'caller',
      used: 32_000,
      max: 50,
    })
    expect(await usedTokens(processes[1])).toEqual([0])
    await settle(20)
    const second = await processes[1].reserveTokens(ana, 32_000)
    await second(40)
    expect(await refusal(processes[0].reserveTokens(ana, 1))).toMatchObject({
      message: 'You have used 60 of 50 tokens a day: try again in 43200 seconds.',
    })
  })

  test('what one limit refuses is reserved in no other', async () => {
    const { processes } = await twoProcesses({ tokensPerDay: 1_000 }, { tokensPerDay: 100 })
    const settle = await processes[0].reserveTokens(ana, 100)
    const ben = { ...ana, id: 'ben' }
    expect(await refusal(processes[1].reserveTokens(ben, 100))).toMatchObject({ of: 'tenant' })
    await settle(1)
    expect((await usedTokens(processes[1])).toSorted()).toEqual([1, 1])
  })

  test('reservations of a process that ended lapse, and a late answer of it still counts in full', async () => {
    const { processes, clock } = await twoProcesses({ tokensPerDay: 100 })
    const late = await processes[0].reserveTokens(ana, 500)
    clock.time += leaseMs
    expect(await refusal(processes[1].reserveTokens(ana, 500))).toBeDefined()
    clock.time += 1
    const settle = await processes[1].reserveTokens(ana, 500)
    await late(30)
    await settle(10)
    expect(await usedTokens(processes[0])).toEqual([40])
  })

  test('reservations made before the clock was set back lapse at once', async () => {
    const { processes, clock } = await twoProcesses({ tokensPerDay: 100 })
    await processes[0].reserveTokens(ana, 500)
    clock.time -= 10 * leaseMs
    await (
      await processes[1].reserveTokens(ana, 500)
    )(1)
    expect(await usedTokens(processes[1])).toEqual([1])
  })

  test('an answer that ends after midnight counts for the day it began', async () => {
    const { processes, clock } = await twoProcesses({ tokensPerDay: 100 })
    const settle = await processes[0].reserveTokens(ana, 500)
    clock.time += 86_400_000
    await settle(100)
    expect(await usedTokens(processes[0])).toEqual([])
    await processes[1].reserveTokens(ana, 500)
  })

  test('erasing a caller leaves the reservations of a key whose number is the id of the caller', async () => {
    const { processes } = await twoProcesses({})
    const settle = await processes[0].reserveTokens({ ...ana, keyId: 7, limits: { tokensPerDay: 1_000 } }, 400)
    await processes[1].erase('7')
    await settle(100)
    expect(await usedTokens(processes[0])).toEqual([100])
  })

  test('an answer that is settled twice at once counts once', async () => {
    const { processes } = await twoProcesses({ tokensPerDay: 1_000 })
    const settle = await processes[0].reserveTokens(ana, 400)
    await Promise.all([settle(100), settle(100)])
    expect(await usedTokens(processes[0])).toEqual([100])
  })

  test('an answer that ended during an outage of the database is counted by the next renewal', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { db, processes, errors } = await twoProcesses({ tokensPerDay: 1_000 })
    const settle = await processes[0].reserveTokens(ana, 400)
    await sql`alter table inlay_reserved_tokens rename to away`.execute(db)
    await settle(100)
    expect(errors.splice(0)).toHaveLength(1)
    await sql`alter table away rename to inlay_reserved_tokens`.execute(db)
    vi.advanceTimersByTime(leaseMs / 3)
    const reserved = async (): Promise<unknown> =>
      (await db.selectFrom('inlay_reserved_tokens').selectAll().execute()).length
    await expect.poll(reserved).toBe(0)
    expect(await usedTokens(processes[1])).toEqual([100])
  })

  test('a process renews its own reservations, not those of one that ended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { db, processes, clock } = await twoProcesses({ tokensPerDay: 100 })
    const ben = { ...ana, id: 'ben' }
    await processes[0].reserveTokens(ana, 500)
    // It never settles, like a killed process.
    await processes[0].close()
    await processes[1].reserveTokens(ben, 500)
    const renewedAt = async (owner: string): Promise<number> => {
      const rows = db.selectFrom('inlay_reserved_tokens').select('lease_until').where('owner', '=', owner)
      return Number((await rows.executeTakeFirstOrThrow()).lease_until) - leaseMs
    }
    clock.time += leaseMs / 2
    vi.advanceTimersByTime(leaseMs / 3)
    await expect.poll(() => renewedAt('ben')).toBe(clock.time)
    expect(await renewedAt('ana')).toBe(noon)
    clock.time += leaseMs / 2 + 1
    await processes[1].reserveTokens(ana, 500)
    expect(await refusal(processes[1].reserveTokens(ben, 1))).toBeDefined()
  })
})
