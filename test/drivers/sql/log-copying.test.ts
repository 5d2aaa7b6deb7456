import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { emptyLog } from '@inlay/records'

test('what commits of megabytes leave in the log is copied into the database beside them', async () => {
  // The other thread begins when the test triggers it.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-log-'))
  const file = join(folder, 'records.db')
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file }) })
  onTestFinished(async () => {
    await db.destroy()
    vi.useRealTimers()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  await sql`create table text (content text)`.execute(db)
  const before = statSync(file).size
  const megabytes = 'x'.repeat(2 ** 21)
  for (let count = 0; count < 4; count++) await sql`insert into text values (${megabytes})`.execute(db)
  // More than the limit of SQLite itself, at which the commit would have copied it.
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(2 ** 23)
  expect(statSync(file).size).toBe(before)
  // It lets the time pass.
  await expect.poll(() => statSync(file).size).toBeGreaterThan(2 ** 23)
})

test('small commits wait for each other before they are copied', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const copies = vi.spyOn(Worker.prototype, 'postMessage')
  const folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-log-'))
  const file = join(folder, 'records.db')
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file }) })
  onTestFinished(async () => {
    await db.destroy()
    vi.restoreAllMocks()
    vi.useRealTimers()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  await sql`create table text (content text)`.execute(db)
  await sql`insert into text values (${'x'.repeat(2 ** 22)})`.execute(db)
  await expect.poll(() => statSync(file).size).toBeGreaterThan(2 ** 22)
  expect(copies).toHaveBeenCalledTimes(1)
  // The log keeps its size, but holds one page that the database lacks.
  await sql`insert into text values ('y')`.execute(db)
  vi.advanceTimersByTime(1_000)
  expect(copies).toHaveBeenCalledTimes(1)
})

test.skipIf(!existsSync('/proc/locks'))('looks at the log leave the locks of the process alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-log-'))
  const file = join(folder, 'records.db')
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file }) })
  onTestFinished(async () => {
    await db.destroy()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  await sql`create table text (content text)`.execute(db)
  // Without it, another process takes itself for the first, and resets the index of the log that this one reads.
  const holdsLock = (): boolean =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .some((lock) => lock.includes(` ${process.pid} `) && lock.endsWith(`:${statSync(`${file}-shm`).ino} 128 128`))
  expect(holdsLock()).toBe(true)
  const copies = vi.spyOn(Worker.prototype, 'postMessage')
  for (let count = 0; count < 3; count++) await sql`insert into text values (${'x'.repeat(2 ** 21)})`.execute(db)
  await expect.poll(() => copies.mock.calls.length).toBeGreaterThan(0)
  vi.restoreAllMocks()
  expect(holdsLock()).toBe(true)
})

test('statements beside the emptying of the log keep the busy timeout', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-log-'))
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  onTestFinished(async () => {
    await db.destroy()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  await sql`create table text (content text)`.execute(db)
  const timeouts = Array.from({ length: 8 }, async () => {
    const { rows } = await sql<{ timeout: number }>`pragma busy_timeout`.execute(db)
    return rows[0]?.timeout
  })
  expect(await Promise.all([emptyLog(db), ...timeouts])).toEqual([true, ...Array.from({ length: 8 }, () => 5_000)])
  expect(statSync(join(folder, 'records.db-wal')).size).toBe(0)
})
