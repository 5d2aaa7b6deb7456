import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createUsageLimits, migrateServer } from '@inlay/server'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

type Database = Parameters<typeof createUsageLimits>[0]['db']

async function newDatabase(): Promise<Database> {
  const db: Database = new Kysely({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await migrateServer(db)
  return db
}

/** Two processes that share one database. */
function twoProcesses(db: Database, now: () => number = Date.now) {
  const limits = () => createUsageLimits({ db, now, onError: (error) => expect.unreachable(String(error)) })
  return [limits().waiting, limits().waiting] as const
}

test('processes together reserve no more places than a share has, however many ask at once', async () => {
  const [first, second] = twoProcesses(await newDatabase())
  const ann = { scope: 'caller', owner: 'ann' } as const
  const reservations = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? first : second).reserve(ann, 5))
  const granted = (await Promise.all(reservations)).filter(({ reservation }) => reservation).length
  expect(granted).toBeLessThanOrEqual(5)
  // Alone, each gets what is left.
  for (let left = granted; left < 5; left++) expect((await first.reserve(ann, 5)).reservation).toBeDefined()
  expect(await second.reserve(ann, 5)).toEqual({ reservation: undefined, used: 5 })
})

test('a document counts from its reservation until it is removed', async () => {
  const [first, second] = twoProcesses(await newDatabase())
  const [ann, key] = [{ scope: 'caller', owner: 'ann' } as const, { scope: 'key', owner: '7' } as const]
  for (const [share, id] of [
    [ann, 'a'],
    [ann, 'b'],
    // Both take in the same document.
    [ann, 'a'],
    [key, 'a'],
  ] as const) {
    const { reservation } = await first.reserve(share, 9)
    await (id === 'a' ? second : first).settle(reservation!, id)
  }
  const { reservation } = await first.reserve(key, 9)
  expect([await second.count(ann), await second.count(key)]).toEqual([2, 2])
  await first.settle(reservation!)
  expect([await second.count(ann), await second.count(key)]).toEqual([2, 1])
  await second.remove(ann, ['a'])
  expect(await second.list(ann, { from: 0, most: 9 })).toEqual(['b'])
  await second.erase('ann')
  expect([await second.count(ann), await second.count(key)]).toEqual([0, 1])
})

test('what is kept elsewhere counts too', async () => {
  const [first, second] = twoProcesses(await newDatabase())
  const all = { scope: 'tenant', owner: '' } as const
  expect((await first.reserve(all, 3, async () => 2)).reservation).toBeDefined()
  expect(await second.reserve(all, 3, async () => 2)).toEqual({ reservation: undefined, used: 3 })
})

test('a reservation of a process that crashed ends', async () => {
  let time = 1_000_000
  const [first, second] = twoProcesses(await newDatabase(), () => time)
  const ann = { scope: 'caller', owner: 'ann' } as const
  expect((await first.reserve(ann, 1)).reservation).toBeDefined()
  expect((await second.reserve(ann, 1)).reservation).toBeUndefined()
  time += 600_000
  expect((await second.reserve(ann, 1)).reservation).toBeDefined()
})

test('removing documents leaves the reservations of requests under way', async () => {
  const [first, second] = twoProcesses(await newDatabase())
  const ann = { scope: 'caller', owner: 'ann' } as const
  expect((await first.reserve(ann, 1)).reservation).toBeDefined()
  await second.remove(ann, ['indexed'])
  expect((await second.reserve(ann, 1)).reservation).toBeUndefined()
})

test('each request that waits for its places learns that the database failed', async () => {
  const db = await newDatabase()
  const [first] = twoProcesses(db)
  const ann = { scope: 'caller', owner: 'ann' } as const
  await sql`alter table inlay_waiting_documents rename to away`.execute(db)
  const results = await Promise.allSettled([first.reserve(ann, 5), first.reserve(ann, 5)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await sql`alter table away rename to inlay_waiting_documents`.execute(db)
  expect((await first.reserve(ann, 5)).reservation).toBeDefined()
})
