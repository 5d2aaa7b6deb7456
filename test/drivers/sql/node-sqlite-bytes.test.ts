import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-bytes-'))
  chmodSync(folder, 0o755)
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const open = (): Kysely<unknown> => new Kysely({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
const isOnDisk = (text: string): boolean =>
  readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(text))

const secret = 'quokka secret '.repeat(1000)

async function writeAndDelete(db: Kysely<unknown>): Promise<void> {
  await sql`create table if not exists note (id integer primary key, text text)`.execute(db)
  await sql`insert into note (text) values (${'kept'}), (${secret}), (${'quokka secret, short'})`.execute(db)
  await sql`delete from note where text like 'quokka%'`.execute(db)
}

describe('deleted content', () => {
  it('is gone from the bytes on the disk a minute later, while the database is open', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const db = open()
    await writeAndDelete(db)
    expect(isOnDisk('quokka secret')).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(isOnDisk('quokka secret')).toBe(false)
    expect(isOnDisk('kept')).toBe(true)
    await db.destroy()
  })

  it('is gone after a stop and a start', async () => {
    const first = open()
    await writeAndDelete(first)
    await first.destroy()
    const second = open()
    await sql`select 1`.execute(second)
    expect(isOnDisk('quokka secret')).toBe(false)
    await second.destroy()
  })

  it('waits for the next time while another reads', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const [db, reader] = [open(), open()]
    await writeAndDelete(db)
    await sql`insert into note (text) values (${secret})`.execute(db)
    await reader.transaction().execute(async (transaction) => {
      await sql`select * from note`.execute(transaction)
      vi.advanceTimersByTime(60_000)
    })
    await sql`delete from note where text like 'quokka%'`.execute(db)
    vi.advanceTimersByTime(60_000)
    expect(isOnDisk('quokka secret')).toBe(false)
    await Promise.all([db.destroy(), reader.destroy()])
  })
})

describe.skipIf(process.platform === 'win32')('the files of the records', () => {
  const modes = (): number[] => readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)

  it('are for their user alone, also in a folder that is open to others', async () => {
    const db = open()
    await writeAndDelete(db)
    expect(modes()).toEqual([0o600, 0o600, 0o600])
    await db.destroy()
  })

  it('are taken from others when they were open to them', async () => {
    writeFileSync(join(folder, 'records.db'), '', { mode: 0o644 })
    const db = open()
    await sql`select 1`.execute(db)
    expect(new Set(modes())).toEqual(new Set([0o600]))
    await db.destroy()
  })
})
