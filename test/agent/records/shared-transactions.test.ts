import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { AgentDatabase } from '@inlay/agent/internal/records/tables'
import { createSharedTransactions, type Writing } from '@inlay/agent/internal/records/shared-transactions'

/** A database with a table of numbers that counts its transactions. */
async function numbers() {
  const inner = nodeSqlite({ file: ':memory:' })
  let begun = 0
  const db: AgentDatabase = new Kysely({
    dialect: {
      createAdapter: () => inner.createAdapter(),
      createIntrospector: (over) => inner.createIntrospector(over),
      createQueryCompiler: () => inner.createQueryCompiler(),
      createDriver: () => {
        const driver = inner.createDriver()
        const begin = driver.beginTransaction.bind(driver)
        driver.beginTransaction = (...given) => (begun++, begin(...given))
        return driver
      },
    },
  })
  await sql`create table numbers (number integer primary key)`.execute(db)
  const { run } = createSharedTransactions(db)
  const put =
    (number: number): Writing<number> =>
    async (records) => {
      await sql`insert into numbers values (${number})`.execute(records)
      return number
    }
  const stored = async (): Promise<number[]> =>
    (await sql<{ number: number }>`select number from numbers order by number`.execute(db)).rows.map(
      ({ number }) => number,
    )
  return { db, run, put, stored, begun: () => begun }
}

describe('writings of one moment', () => {
  test('are carried out in their order and each gets its own result', async () => {
    const { run, put, stored } = await numbers()
    const all = Array.from({ length: 100 }, (_, at) => at)
    expect(await Promise.all(all.map((at) => run(put(at))))).toEqual(all)
    expect(await stored()).toEqual(all)
  })

  test('share a transaction, up to a number of them', async () => {
    const { run, put, begun } = await numbers()
    await Promise.all(Array.from({ length: 40 }, (_, at) => run(put(at))))
    expect(begun()).toBe(2)
  })

  test('that fail take back what they wrote, and nothing else', async () => {
    const { run, put, stored } = await numbers()
    const outcomes = await Promise.allSettled([
      run(put(1)),
      run(async (records) => {
        await put(2)(records)
        throw new Error('not wanted')
      }),
      run(put(1)),
      run(put(3)),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await stored()).toEqual([1, 3])
  })

  test('may begin while others run', async () => {
    const { run, put, stored } = await numbers()
    await run(async (records) => {
      void run(put(2))
      await put(1)(records)
    })
    await run(put(3))
    expect(await stored()).toEqual([1, 2, 3])
  })
})

test('a database that cannot be written fails all of them', async () => {
  const { run, put, db } = await numbers()
  await db.destroy()
  const outcomes = await Promise.allSettled([run(put(1)), run(put(2))])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
