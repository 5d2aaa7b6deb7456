import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

/** Syncs that were begun: the file each is of, and what ends it. */
const syncs: { ino: number; end: (error?: Error) => void }[] = []

interface Tables {
  note: { text: string }
}

let folder: string
let fileHandles: FileHandle
let db: Kysely<Tables>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-log-sync-'))
  db = new Kysely<Tables>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await sql`create table note (text text)`.execute(db)
  const handle = await open(import.meta.filename)
  await handle.close()
  fileHandles = Object.getPrototypeOf(handle) as FileHandle
  vi.spyOn(fileHandles, 'datasync').mockImplementation(async function (this: FileHandle) {
    const { ino } = await this.stat()
    await new Promise<void>((resolve, reject) => {
      syncs.push({ ino, end: (error) => (error ? reject(error) : resolve()) })
    })
  })
})
afterEach(async () => {
  for (const { end } of syncs.splice(0)) end()
  vi.restoreAllMocks()
  await db.destroy()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const begun = (count: number): Promise<void> => expect.poll(() => syncs).toHaveLength(count)
const texts = async (): Promise<string[]> => (await db.selectFrom('note').selectAll().execute()).map(({ text }) => text)
const add = (text: string): Promise<unknown> =>
  db.transaction().execute((transaction) => transaction.insertInto('note').values({ text }).execute())

/** State of a commit. */
function watch(commit: Promise<unknown>): { state: string; error?: unknown } {
  const watched: { state: string; error?: unknown } = { state: 'waits' }
  commit.then(
    () => (watched.state = 'done'),
    (error: unknown) => Object.assign(watched, { state: 'failed', error }),
  )
  return watched
}

describe('a commit', () => {
  it('resolves when the log is on the disk, and holds up nobody meanwhile', async () => {
    const commit = watch(add('kept'))
    await begun(1)
    const log = join(folder, 'records.db-wal')
    expect(existsSync(log)).toBe(true)
    expect(syncs[0]!.ino).toBe(statSync(log).ino)
    expect(await texts()).toEqual(['kept'])
    expect(commit.state).toBe('waits')
    syncs.shift()!.end()
    await expect.poll(() => commit.state).toBe('done')
  })

  it('outside of a transaction does so too', async () => {
    const commit = watch(db.insertInto('note').values({ text: 'kept' }).execute())
    await begun(1)
    expect(await texts()).toEqual(['kept'])
    expect(commit.state).toBe('waits')
    syncs.shift()!.end()
    await expect.poll(() => commit.state).toBe('done')
  })

  it('of a transaction that is begun and ended by hand does so too', async () => {
    const commit = watch(
      db.connection().execute(async (connection) => {
        await sql`begin`.execute(connection)
        await connection.insertInto('note').values({ text: 'kept' }).execute()
        await sql`end`.execute(connection)
      }),
    )
    await begun(1)
    expect(commit.state).toBe('waits')
    syncs.shift()!.end()
    await expect.poll(() => commit.state).toBe('done')
  })

  it('that comes while the disk is busy needs the next sync, and shares it', async () => {
    const first = watch(add('first'))
    await begun(1)
    const others = [watch(add('second')), watch(add('third'))]
    await expect.poll(texts).toEqual(['first', 'second', 'third'])
    expect(syncs).toHaveLength(1)
    syncs.shift()!.end()
    await begun(1)
    expect([first.state, ...others.map(({ state }) => state)]).toEqual(['done', 'waits', 'waits'])
    syncs.shift()!.end()
    await expect.poll(() => others.map(({ state }) => state)).toEqual(['done', 'done'])
    expect(syncs).toHaveLength(0)
  })

  it('fails when the disk does, and the next one is tried anew', async () => {
    const commit = watch(add('first'))
    await begun(1)
    syncs.shift()!.end(new Error('EIO'))
    await expect.poll(() => commit.state).toBe('failed')
    expect(commit.error).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('check the disk'),
    })
    const next = watch(add('second'))
    await begun(1)
    syncs.shift()!.end()
    await expect.poll(() => next.state).toBe('done')
  })

  it('does not rely on what the disk refused of the log before', async () => {
    const failed = watch(add('first'))
    await begun(1)
    syncs.shift()!.end(new Error('EIO'))
    await expect.poll(() => failed.state).toBe('failed')
    const next = watch(add('second'))
    await begun(1)
    copyFileSync(join(folder, 'records.db'), join(folder, 'without-log.db'))
    const copy = new Kysely<Tables>({ dialect: nodeSqlite({ file: join(folder, 'without-log.db') }) })
    vi.mocked(fileHandles.datasync).mockImplementationOnce(async () => {})
    expect(await copy.selectFrom('note').select('text').execute()).toEqual([{ text: 'first' }, { text: 'second' }])
    await copy.destroy()
    syncs.shift()!.end()
    await expect.poll(() => next.state).toBe('done')
  })

  it('that finds everything written already waits for the disk as who wrote it does', async () => {
    const first = watch(add('kept'))
    await begun(1)
    const second = watch(
      db.transaction().execute((transaction) => transaction.selectFrom('note').selectAll().execute()),
    )
    expect(await texts()).toEqual(['kept'])
    expect([first.state, second.state]).toEqual(['waits', 'waits'])
    syncs.shift()!.end()
    await expect.poll(() => [first.state, second.state]).toEqual(['done', 'done'])
    expect(syncs).toHaveLength(0)
  })

  it('of nothing needs no sync', async () => {
    await db.transaction().execute((transaction) => transaction.selectFrom('note').selectAll().execute())
    await expect(
      db.transaction().execute(async (transaction) => {
        await transaction.insertInto('note').values({ text: 'undone' }).execute()
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    expect(await texts()).toEqual([])
    expect(syncs).toHaveLength(0)
  })
})

it('waits for the disk itself where the runtime does not let files be synced', async () => {
  vi.mocked(fileHandles.datasync).mockImplementation(async () => Promise.reject(new Error('not permitted')))
  const other = new Kysely<Tables>({ dialect: nodeSqlite({ file: join(folder, 'other.db') }) })
  expect((await sql`pragma synchronous`.execute(other)).rows).toEqual([{ synchronous: 2 }])
  await sql`create table note (text text)`.execute(other)
  await other.insertInto('note').values({ text: 'kept' }).execute()
  await other.destroy()
})
