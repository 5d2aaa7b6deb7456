import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { Kysely, sql, type Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

interface Tables {
  account: { id: number; balance: number }
}
type Connection = Pick<Kysely<Tables>, 'selectFrom' | 'updateTable'>

let folder: string
let db: Kysely<Tables>

const opened = (name: string): Kysely<Tables> => new Kysely({ dialect: nodeSqlite({ file: join(folder, name) }) })
const balances = async (from: Connection = db): Promise<number[]> =>
  (await from.selectFrom('account').select('balance').orderBy('id').execute()).map(({ balance }) => balance)
const add = async (id: number, amount: number, to: Connection = db): Promise<unknown> =>
  to
    .updateTable('account')
    .set(({ eb }) => ({ balance: eb('balance', '+', amount) }))
    .where('id', '=', id)
    .execute()

beforeEach(async () => {
  const handle = await open(import.meta.filename)
  await handle.close()
  // The disk of these tests takes one pass of the event loop.
  vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'datasync').mockImplementation(
    async () => new Promise((resolve) => setImmediate(resolve)),
  )
  folder = mkdtempSync(join(tmpdir(), 'inlay-turns-'))
  db = opened('records.db')
  await sql`create table account (id integer primary key, balance integer not null)`.execute(db)
  await sql`insert into account values (0, 100), (1, 100), (2, 100), (3, 100)`.execute(db)
})
afterEach(async () => {
  await db.destroy()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** Numbers below a limit, the same in every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Reads, passes the event loop on, and writes what it has computed. @returns what it added to each account */
async function transfer(transaction: Transaction<Tables>, next: (limit: number) => number): Promise<number[]> {
  const before = await balances(transaction)
  expect(before.reduce((sum, balance) => sum + balance)).toBe(400)
  const [from, to, amount] = [next(4), next(4), next(9) + 1]
  const after = before.map((balance, id) => balance + (id === to ? amount : 0) - (id === from ? amount : 0))
  for (const id of [from, to]) {
    await transaction.updateTable('account').set({ balance: after[id]! }).where('id', '=', id).execute()
    if (next(3) === 0) await new Promise(setImmediate)
  }
  expect(await balances(transaction)).toEqual(after)
  return after.map((balance, id) => balance - before[id]!)
}

it('keeps transactions, savepoints, reads and transactions begun by hand apart', async () => {
  const expected = [100, 100, 100, 100]
  const note = (added: readonly number[]): void => added.forEach((amount, id) => (expected[id]! += amount))
  const undone = new Error('undone')
  const actor = async (seed: number): Promise<void> => {
    const next = numbers(seed)
    for (let round = 0; round < 8; round++) {
      const kind = next(5)
      if (kind === 0) expect((await balances()).reduce((sum, balance) => sum + balance)).toBe(400)
      if (kind === 1) note(await db.transaction().execute((transaction) => transfer(transaction, next)))
      if (kind === 2) {
        const failing = db.transaction().execute(async (transaction) => {
          await transfer(transaction, next)
          throw undone
        })
        await expect(failing).rejects.toBe(undone)
      }
      if (kind === 3) {
        const outer = await db.startTransaction().execute()
        const kept = await transfer(outer, next)
        const inner = await outer.savepoint('inner').execute()
        await transfer(inner, next)
        await inner.rollbackToSavepoint('inner').execute()
        await outer.commit().execute()
        note(kept)
      }
      if (kind === 4) {
        await db.connection().execute(async (connection) => {
          await sql`/* by hand */ begin immediate`.execute(connection)
          await Promise.all([add(next(4), 7, connection), new Promise(setImmediate)])
          await sql`rollback`.execute(connection)
        })
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, (_, seed) => actor(seed + 1)))
  expect(await balances()).toEqual(expected)
})

describe('a connection', () => {
  it('keeps its turn within a transaction, however that was begun', async () => {
    for (const [opening, endings] of [
      ['/* by hand */ begin immediate', ['rollback']],
      ['savepoint by_hand', ['rollback to by_hand', 'release by_hand']],
    ] as const) {
      let others: Promise<unknown> | undefined
      await db.connection().execute(async (connection) => {
        await sql.raw(opening).execute(connection)
        await add(0, 5, connection)
        others = add(1, 1)
        await new Promise(setImmediate)
        for (const end of endings) await sql.raw(end).execute(connection)
      })
      await others
    }
    expect(await balances()).toEqual([100, 102, 100, 100])
  })

  it('that is given back within a transaction loses it', async () => {
    await db.connection().execute(async (connection) => {
      await sql`begin immediate`.execute(connection)
      await add(0, 5, connection)
    })
    await db.transaction().execute((transaction) => add(1, 5, transaction))
    expect(await balances()).toEqual([100, 105, 100, 100])
  })

  it('that was given back holds up nobody', async () => {
    let kept: Connection = db
    await db.connection().execute(async (connection) => {
      kept = connection
      await add(0, 5, connection)
    })
    await expect(balances(kept)).rejects.toThrow('given back')
    expect(await balances()).toEqual([105, 100, 100, 100])
  })

  it('streams reads alone', async () => {
    const writes = db.updateTable('account').set({ balance: 0 }).returning('id').stream()
    await expect(writes[Symbol.asyncIterator]().next()).rejects.toThrow('Only reads')
    const ids: number[] = []
    for await (const { id } of db.selectFrom('account').select('id').orderBy('id').stream()) ids.push(id)
    expect(ids).toEqual([0, 1, 2, 3])
    expect(await balances()).toEqual([100, 100, 100, 100])
  })
})

it('opens a file by a link to it', async () => {
  symlinkSync(join(folder, 'records.db'), join(folder, 'link.db'))
  const linked = opened('link.db')
  await add(0, 5, linked)
  expect((await sql`pragma synchronous`.execute(linked)).rows).toEqual([{ synchronous: 1 }])
  await linked.destroy()
  expect(await balances()).toEqual([105, 100, 100, 100])
})
