import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql, type Generated } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeSqlite, type NodeSqliteOptions } from '@inlay/drivers/node-sqlite'
import { prepared } from '@inlay/records'

interface Tables {
  note: { id: Generated<number>; text: string; size: number }
}

let folder: string
let opened: Kysely<Tables>[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-sqlite-'))
})
afterEach(async () => {
  await Promise.all(opened.map((db) => db.destroy()))
  opened = []
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

function open(options: Partial<NodeSqliteOptions> = {}): Kysely<Tables> {
  const db = new Kysely<Tables>({ dialect: nodeSqlite({ file: join(folder, 'a', 'b', 'records.db'), ...options }) })
  opened.push(db)
  return db
}

async function withNotes(options: Partial<NodeSqliteOptions> = {}): Promise<Kysely<Tables>> {
  const db = open(options)
  await db.schema
    .createTable('note')
    .ifNotExists()
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .execute()
  return db
}

describe('a records file', () => {
  it('is made with its folders by the first query, not before', async () => {
    const db = open()
    expect(existsSync(join(folder, 'a'))).toBe(false)
    await sql`select 1`.execute(db)
    expect(existsSync(join(folder, 'a', 'b', 'records.db'))).toBe(true)
  })

  it('is in WAL mode and checks foreign keys', async () => {
    const db = open()
    const pragma = async (name: string): Promise<unknown> =>
      Object.values((await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db)).rows[0]!)[0]
    expect(await pragma('journal_mode')).toBe('wal')
    expect(await pragma('foreign_keys')).toBe(1)
  })

  it('keeps what was committed and forgets what was rolled back', async () => {
    const db = await withNotes()
    await db.insertInto('note').values({ text: 'kept', size: 1 }).execute()
    await expect(
      db.transaction().execute(async (trx) => {
        await trx.insertInto('note').values({ text: 'lost', size: 1 }).execute()
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await db.destroy()
    const again = open()
    expect((await again.selectFrom('note').select('text').execute()).map((row) => row.text)).toEqual(['kept'])
  })

  it('that is full says so also of a transaction, which is then over, and takes more once there is room', async () => {
    const db = await withNotes()
    await sql`pragma max_page_count = 20`.execute(db)
    const add = (text: string): Promise<void> =>
      db.transaction().execute(async (trx) => {
        await trx.insertInto('note').values({ text: 'with it', size: 1 }).execute()
        await trx.insertInto('note').values({ text, size: 1 }).execute()
      })
    await expect(add('x'.repeat(200_000))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringMatching(/disk .* full/),
    })
    expect(await db.selectFrom('note').selectAll().execute()).toEqual([])
    await sql`pragma max_page_count = 1000`.execute(db)
    await add('x'.repeat(200_000))
    expect(await db.selectFrom('note').select('size').execute()).toHaveLength(2)
  })

  it('gives back what it was given: ids, counts, whole numbers, NUL, emoji', async () => {
    const db = await withNotes()
    const text = 'a\u0000b 🦀 "quoted" \'single\''
    const rows = await db
      .insertInto('note')
      .values({ text, size: Number.MAX_SAFE_INTEGER })
      .returning(['id', 'text', 'size'])
      .executeTakeFirstOrThrow()
    expect(rows).toEqual({ id: 1, text, size: Number.MAX_SAFE_INTEGER })
    const updated = await db.updateTable('note').set({ size: 2 }).where('id', '=', 1).executeTakeFirstOrThrow()
    expect(updated.numUpdatedRows).toBe(1n)
    const shown = await sql<{
      value: string
      kind: string
    }>`select cast(${5} as text) as value, typeof(${5}) as kind`.execute(db)
    expect(shown.rows[0]).toEqual({ value: '5', kind: 'integer' })
  })

  it('refuses to round an integer that JavaScript cannot hold', async () => {
    const db = await withNotes()
    await sql`insert into note (text, size) values ('large', ${2n ** 60n})`.execute(db)
    await expect(db.selectFrom('note').select('size').execute()).rejects.toThrow(/too large/)
  })

  it('sees a changed schema through statements it had prepared before', async () => {
    const db = await withNotes()
    await db.insertInto('note').values({ text: 'x', size: 1 }).execute()
    const all = (): Promise<unknown[]> => db.selectFrom('note').selectAll().execute()
    expect(await all()).toEqual([{ id: 1, text: 'x', size: 1 }])
    await db.schema
      .alterTable('note')
      .addColumn('extra', 'integer', (column) => column.defaultTo(7))
      .execute()
    expect(await all()).toEqual([{ id: 1, text: 'x', size: 1, extra: 7 }])
  })

  it('stays right with more statements than are kept prepared', async () => {
    const db = await withNotes()
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 600; n++) {
        const result = await sql.raw<{ n: number }>(`select ${n} as n`).execute(db)
        expect(result.rows[0]?.n).toBe(n)
      }
    }
  })

  it('writes a limit into its statement, as a bound one is planned again at each use', async () => {
    const db = await withNotes()
    await db
      .insertInto('note')
      .values([1, 2, 3].map((size) => ({ text: 'a', size })))
      .execute()
    const firstTwo = db.selectFrom('note').select('size').where('text', '=', 'a').orderBy('id').limit(2)
    expect(firstTwo.compile()).toMatchObject({ sql: expect.stringMatching(/limit 2$/), parameters: ['a'] })
    expect(await firstTwo.execute()).toEqual([{ size: 1 }, { size: 2 }])
    const least = db
      .selectFrom('note')
      .select('size')
      .orderBy('id')
      .limit(sql<number>`(select min(size) from note)`)
    expect(await least.execute()).toEqual([{ size: 1 }])
    const first = prepared((tables: Kysely<Tables>, { count }: { readonly count: number }) =>
      tables.selectFrom('note').select('size').orderBy('id').limit(count),
    )
    expect([await first(db, { count: 1 }), await first(db, { count: 2 })].map((rows) => rows.length)).toEqual([1, 2])
  })

  it('streams rows', async () => {
    const db = await withNotes()
    await db
      .insertInto('note')
      .values([1, 2, 3].map((size) => ({ text: 't', size })))
      .execute()
    const sizes: number[] = []
    for await (const row of db.selectFrom('note').select('size').orderBy('size').stream()) sizes.push(row.size)
    expect(sizes).toEqual([1, 2, 3])
  })
})

describe('two users of one file', () => {
  it('do not deadlock when both read and then write in a transaction', async () => {
    const first = await withNotes()
    const second = open()
    await first.insertInto('note').values({ text: 'counter', size: 0 }).execute()
    const add = (db: Kysely<Tables>): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const { size } = await trx.selectFrom('note').select('size').executeTakeFirstOrThrow()
        await trx
          .updateTable('note')
          .set({ size: size + 1 })
          .execute()
      })
    // Within one process a waiting thread would hold up the other, so each takes its turn at every transaction.
    for (let n = 0; n < 50; n++) await add(n % 2 ? first : second)
    const child = async (): Promise<number | null> => {
      const process = fork(
        new URL('node-sqlite-writer.ts', import.meta.url),
        [join(folder, 'a', 'b', 'records.db'), '100'],
        {
          execArgv: ['--conditions=@inlay/source'],
        },
      )
      const [code] = (await once(process, 'exit')) as [number | null]
      return code
    }
    expect(await Promise.all([child(), child()])).toEqual([0, 0])
    expect((await first.selectFrom('note').select('size').executeTakeFirstOrThrow()).size).toBe(250)
  })

  it('read in a read-only transaction while the other writes', async () => {
    const first = await withNotes()
    const second = open({ busyTimeoutMs: 20 })
    await first.transaction().execute(async (trx) => {
      await trx.insertInto('note').values({ text: 'x', size: 1 }).execute()
      const seen = await second
        .transaction()
        .setAccessMode('read only')
        .execute((reader) => reader.selectFrom('note').selectAll().execute())
      expect(seen).toEqual([])
    })
  })

  it('are told when the other holds the file for too long', async () => {
    const first = await withNotes()
    const second = open({ busyTimeoutMs: 20 })
    await first.transaction().execute(async (trx) => {
      await trx.insertInto('note').values({ text: 'x', size: 1 }).execute()
      await expect(second.insertInto('note').values({ text: 'y', size: 1 }).execute()).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining('locked by another process'),
      })
    })
  })
})

describe('a file that cannot be used', () => {
  const failure = (file: string): Promise<unknown> =>
    sql`select 1`.execute(open({ file })).then(
      () => 'no failure',
      (error) => error,
    )

  it('is named as no database, without its path', async () => {
    const file = join(folder, 'other.db')
    writeFileSync(file, 'certainly not a database '.repeat(100))
    const error = await failure(file)
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('not a SQLite database') })
    expect((error as Error).message).not.toContain(folder)
  })

  it('is reported when the path names a folder or runs through a file', async () => {
    expect(await failure(folder)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('cannot be opened'),
    })
    writeFileSync(join(folder, 'plain'), '')
    expect(await failure(join(folder, 'plain', 'records.db'))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: false,
    })
  })

  it('lets constraint failures through as they are', async () => {
    const db = await withNotes()
    await db
      .insertInto('note')
      .values({ id: 1, text: 'x', size: 1 } as never)
      .execute()
    await expect(
      db
        .insertInto('note')
        .values({ id: 1, text: 'y', size: 1 } as never)
        .execute(),
    ).rejects.toThrow(/UNIQUE/)
  })
})
