import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { sweepLargeContents } from '@inlay/knowledge/internal/intake/large-content'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzleTransaction, kyselyTransaction, prismaTransaction, type HostTransaction } from 'inlay/transactions'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../knowledge/postgres-server.ts'
import { makeKnowledge, makeRecords, request, useDialect, type TestKnowledge } from '../knowledge/setup.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server.stop())

interface Host extends TestKnowledge {
  readonly pool: pg.Pool
  readonly connectionString: string
  /** Texts that a search finds, once all that was committed is indexed. */
  hits(): Promise<string[]>
  rows(table: string): Promise<number>
}

/** A host whose own search path does not lead to Inlay's tables. */
async function makeHost(): Promise<Host> {
  const connectionString = await server.takeDatabase()
  onTestFinished(() => server.returnDatabase(connectionString))
  useDialect(() => postgres({ connectionString, maxConnections: 2 }))
  const base = await makeKnowledge({ db: await makeRecords() })
  const pool = new pg.Pool({ connectionString, max: 3, options: '-c search_path=shop' })
  // The server may stop before the last connection has said goodbye.
  pool.on('connect', (client) => void client.on('error', () => {}))
  onTestFinished(() => pool.end())
  await pool.query(
    'create schema if not exists shop; create table if not exists shop.articles (title text); delete from articles',
  )
  return {
    ...base,
    pool,
    connectionString,
    hits: async () => {
      await base.knowledge.whenIdle()
      return (await base.knowledge.search({ text: 'heron', limit: 9 })).map(({ content }) => content).toSorted()
    },
    rows: async (table) => Number((await pool.query(`select count(*) from ${table}`)).rows[0].count),
  }
}

/** Writes a row of the host and does work, in one transaction. */
type InTransaction = (pool: pg.Pool, work: (transaction: HostTransaction) => Promise<unknown>) => Promise<void>

const inPg: InTransaction = async (pool, work) => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(`insert into articles values ('Heron')`)
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const libraries: Readonly<Record<string, InTransaction>> = {
  pg: inPg,
  Kysely: async (pool, work) => {
    const db = new Kysely<{ articles: { title: string } }>({
      dialect: new PostgresDialect({ pool }),
      plugins: [new CamelCasePlugin()],
    })
    await db.transaction().execute(async (trx) => {
      await trx.insertInto('articles').values({ title: 'Heron' }).execute()
      await work(kyselyTransaction(trx))
    })
  },
  Drizzle: async (pool, work) =>
    drizzle(pool).transaction(async (tx) => {
      await tx.execute(drizzleSql`insert into articles values ('Heron')`)
      await work(drizzleTransaction(tx, drizzleSql))
    }),
  // Its client is generated code: what the adapter uses of it stands in.
  'an interface like that of Prisma': (pool, work) =>
    inPg(pool, (client) =>
      work(prismaTransaction({ $queryRawUnsafe: async (text, ...values) => (await client.query(text, values)).rows })),
    ),
}

const heron = (text: string, id = 'heron') => request({ id, text })

describe.each(Object.entries(libraries))('with %s', (_name, inTransaction) => {
  test('a document is there with the commit and not before, and indexed', async () => {
    const { knowledge, pool, errors, hits, rows } = await makeHost()
    await knowledge.start()
    await inTransaction(pool, async (transaction) => {
      expect(await knowledge.accept(heron('The heron waits, $1.'), { transaction })).toEqual({
        documentId: 'heron',
        alreadyExisted: false,
        isUnchanged: false,
      })
      expect(await rows('public.inlay_inbox')).toBe(0)
    })
    expect(await hits()).toEqual(['The heron waits, $1.'])
    await inTransaction(pool, async (transaction) => {
      const accepted = await knowledge.accept(heron('The heron flies.'), { transaction })
      expect(accepted).toMatchObject({ alreadyExisted: true, isUnchanged: false })
    })
    expect(await hits()).toEqual(['The heron flies.'])
    await inTransaction(pool, (transaction) => knowledge.remove('heron', { transaction }))
    expect(await hits()).toEqual([])
    expect(await rows('articles')).toBe(3)
    expect(await rows('public.inlay_inbox')).toBe(0)
    expect(errors).toEqual([])
  })

  test('a rollback leaves nothing of it, however large it is', async () => {
    const { knowledge, pool, hits, rows } = await makeHost()
    await knowledge.start()
    await knowledge.accept(heron('The heron waits.', 'other'))
    const whim = new Error('The host changed its mind.')
    const long = 'The heron waits in the reeds. '.repeat(40_000)
    await expect(
      inTransaction(pool, async (transaction) => {
        await knowledge.accept(heron('The heron flies.'), { transaction })
        await knowledge.accept(heron(long, 'large'), { transaction })
        await knowledge.remove('other', { transaction })
        throw whim
      }),
    ).rejects.toBe(whim)
    expect(await hits()).toEqual(['The heron waits.'])
    expect(await knowledge.status('heron')).toBeUndefined()
    for (const table of ['inbox', 'large_contents', 'content_parts'])
      expect(await rows(`public.inlay_${table}`)).toBe(0)
    expect(await rows('articles')).toBe(0)
  })

  test('without a transaction, the call is refused and nothing is stored', async () => {
    const { knowledge, pool, rows } = await makeHost()
    const outside: Readonly<Record<string, HostTransaction>> = {
      pg: pool,
      Kysely: kyselyTransaction(new Kysely({ dialect: new PostgresDialect({ pool }) })),
      Drizzle: drizzleTransaction(drizzle(pool), drizzleSql),
    }
    const transaction = outside[_name] ?? pool
    await expect(knowledge.accept(heron('The heron waits.'), { transaction })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('not a pool'),
    })
    expect(await rows('public.inlay_inbox')).toBe(0)
  })
})

test('a transaction in another database is refused', async () => {
  const { knowledge, connectionString } = await makeHost()
  const client = new pg.Client({ connectionString: connectionString.replace(/[^/]+$/, 'postgres') })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await expect(knowledge.accept(heron('The heron waits.'), { transaction: client })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('another database'),
  })
})

test('what is committed comes before all that is sent later, and a transaction that stays open delays nobody', async () => {
  const { knowledge, pool, hits } = await makeHost()
  await inPg(pool, (transaction) => knowledge.accept(heron('The heron waits.'), { transaction }))
  // No worker has started: the call itself takes up what is committed.
  expect(await knowledge.accept(heron('The heron sleeps.'))).toMatchObject({ alreadyExisted: true })
  await inPg(pool, async (transaction) => {
    await knowledge.accept(heron('The heron flies.'), { transaction })
    await knowledge.accept(heron('The heron fishes.'))
    await knowledge.accept(heron('The heron swims.', 'other'))
  })
  await knowledge.start()
  expect(await hits()).toEqual(['The heron flies.', 'The heron swims.'])
})

test('no clean-up takes the content of a large document that is committed and not accepted yet', async () => {
  const { knowledge, db, pool, hits, rows } = await makeHost()
  await inPg(pool, (transaction) =>
    knowledge.accept(heron('The heron waits in the reeds. '.repeat(40_000)), { transaction }),
  )
  await sweepLargeContents(db, { now: Date.now() + 3 * 3_600_000, isGone: () => true })
  await knowledge.start()
  expect(await hits()).not.toEqual([])
  await knowledge.remove('heron')
  await sweepLargeContents(db, { now: Date.now() })
  expect(await rows('public.inlay_content_parts')).toBe(0)
})

test('a committed document whose content was removed is reported, and keeps no other from being accepted', async () => {
  const { knowledge, pool, errors, hits } = await makeHost()
  await inPg(pool, async (transaction) => {
    await knowledge.accept(heron('The heron waits in the reeds. '.repeat(40_000), 'large'), { transaction })
    await knowledge.accept(heron('The heron waits.'), { transaction })
  })
  await pool.query('delete from public.inlay_large_contents')
  await knowledge.start()
  expect(await hits()).toEqual(['The heron waits.'])
  expect(errors).toMatchObject([{ code: 'INTERNAL_ERROR', message: expect.stringContaining('content is lost') }])
})

test('of several calls at once in a transaction, one that is refused takes nothing back of another', async () => {
  const { knowledge, pool, hits } = await makeHost()
  await knowledge.start()
  await inPg(pool, async (transaction) => {
    const outcomes = await Promise.allSettled([
      knowledge.accept(heron('The heron waits.'), { transaction }),
      knowledge.accept({ ...heron('The heron flies.', 'refused'), cc_pair_id: 4711 }, { transaction }),
      knowledge.accept(heron('The heron swims.', 'other'), { transaction }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
  expect(await hits()).toEqual(['The heron swims.', 'The heron waits.'])
})

test('the longest id fits into every index, and a longer one is refused before the commit', async () => {
  const host = await makeHost()
  await host.knowledge.start()
  // Random, since PostgreSQL compresses what repeats itself.
  const id = randomBytes(1000).toString('hex')
  const document = (each: string) => request({ id: each, text: 'The heron waits.' })
  await inPg(host.pool, async (transaction) => {
    await host.knowledge.accept(document(id), { transaction })
    await expect(host.knowledge.accept(document(`${id}a`), { transaction })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    })
    await expect(host.knowledge.accept(document('é'.repeat(1001)))).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })
  expect(await host.hits()).toEqual(['The heron waits.'])
})

test('with records in SQLite, the option is refused with the reason', async () => {
  useDialect((file) => nodeSqlite({ file }))
  const { knowledge } = await makeKnowledge()
  const transaction: HostTransaction = { query: async () => ({ rows: [] }) }
  await expect(knowledge.accept(heron('The heron waits.'), { transaction })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining('after the commit'),
  })
})

test('a refusal leaves the transaction usable, and one that only shows after the commit is reported', async () => {
  const { knowledge, pool, errors, hits } = await makeHost()
  const pair = await knowledge.pairs.create({ name: 'Birds', isPublic: true })
  await inPg(pool, async (transaction) => {
    await expect(
      knowledge.accept({ ...heron('The heron waits.'), cc_pair_id: 4711 }, { transaction }),
    ).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
    await expect(knowledge.remove('heron', { transaction })).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' })
    await expect(knowledge.accept(heron('x'), { transaction, waitMs: 1 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await knowledge.accept(heron('The heron flies.'), { transaction })
    await knowledge.accept({ ...heron('The heron waits.', 'lost'), cc_pair_id: pair.id }, { transaction })
  })
  await knowledge.pairs.remove(pair.id)
  await knowledge.start()
  expect(await hits()).toEqual(['The heron flies.'])
  expect(errors).toMatchObject([{ code: 'CONNECTOR_NOT_FOUND', message: expect.stringContaining('has committed') }])
})

test('a document whose process is killed right after the commit is indexed by the next one', async () => {
  const { knowledge, connectionString, hits } = await makeHost()
  const program = join(import.meta.dirname, 'transaction-child.ts')
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, connectionString], { stdio: 'inherit' })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  expect(await knowledge.status('heron')).toBeUndefined()
  await knowledge.start()
  expect(await hits()).toEqual(['The heron waits.'])
})
