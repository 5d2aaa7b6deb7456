import { must, mustEqual, mustReject, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import { yieldToEventLoop } from '@inlay/scheduling'
import { sql } from 'kysely'
import { dialectOf, hasRowLocks, migrate, type MigrationPlan } from '@inlay/records'
import {
  createNotes,
  namesIn,
  noteOf,
  open,
  withTableOf,
  type Databases,
  type MakeDialect,
  type WithTable,
} from './dialect-fixture.ts'
import { statementChecks } from './statement-tests.ts'

export type { MakeDialect } from './dialect-fixture.ts'

/**
 * Tests of a Kysely `Dialect`, as a list for any test runner. They create tables with the prefix `conformance_`, and
 * drop them. Run them sequentially.
 * @example for (const [title, run] of dialectConformance(make)) test(title, run)
 */
export function dialectConformance(make: MakeDialect): ConformanceTest[] {
  const withTable = withTableOf(make)
  return [
    ...toTests({ ...statementChecks, ...checks }, (check, at) => withTable(`case_${at}`, check)),
    ...toTests(connectionChecks, (check) => check({ make, withTable })),
  ]
}

const connectionChecks: Checks<{ readonly make: MakeDialect; readonly withTable: WithTable }> = {
  async 'it is known as SQLite or Postgres'({ make }) {
    const db = await open(make)
    try {
      must(['sqlite', 'postgres'].includes(dialectOf(db)), 'the kind of the database')
      const { rows } = await sql<{ two: unknown }>`select 1 + 1 as two`.execute(db)
      mustEqual(
        rows.map(({ two }) => Number(two)),
        [2],
        'rows of a query',
      )
    } finally {
      await db.destroy()
    }
  },
  async 'tables are made once, also by several connections at once, and by all steps or none'({ make }) {
    const [first, second] = [await open(make), await open(make)]
    const name = 'conformance'
    const table = 'conformance_migrated'
    const forget = async (): Promise<void> => {
      for (const each of [table, `inlay_${name}_migration`, `inlay_${name}_migration_lock`])
        await first.schema.dropTable(each).ifExists().execute()
    }
    const steps: MigrationPlan['expand'] = {
      '1': { up: (db) => createNotes(db, table) },
      '2': { up: (db) => db.schema.createIndex(`${table}_at`).on(table).column('at').execute() },
    }
    try {
      await forget()
      const broken = { ...steps, '3': { up: () => Promise.reject(new Error('step')) } }
      await mustReject(() => migrate(first, { name, expand: broken }), undefined, 'a step that fails')
      await mustReject(() => namesIn(second, table), undefined, 'a table of steps that were undone')
      await Promise.all(racingOf(first, second).map((db) => migrate(db, { name, expand: steps })))
      await migrate(second, { name, expand: steps })
      await second.insertInto(table).values(noteOf('a')).execute()
      mustEqual(await namesIn(first, table), ['a'], 'rows of the new table')
    } finally {
      await forget()
      await Promise.all([first.destroy(), second.destroy()])
    }
  },
  async 'what was committed outlives its connection'({ make, withTable }) {
    await withTable('closed', async ({ first, table }) => {
      const third = await open(make)
      await third.insertInto(table).values(noteOf('kept')).execute()
      await third.destroy()
      await mustReject(() => namesIn(third, table), undefined, 'a query after the end')
      mustEqual(await namesIn(first, table), ['kept'], 'rows')
      const fourth = await open(make)
      mustEqual(await namesIn(fourth, table), ['kept'], 'rows for a new connection')
      await fourth.destroy()
    })
  },
}

const checks: Checks<Databases> = {
  async 'a transaction that fails leaves nothing, and the connection goes on'(databases) {
    const { first, second, table } = databases
    await first.insertInto(table).values(noteOf('kept')).execute()
    for (let round = 0; round < 12; round++) await failing(databases)
    mustEqual(await namesIn(second, table), ['kept'], 'rows')
    const [row] = await first.selectFrom(table).select('count').execute()
    mustEqual(Number(row?.count), 0, 'a row it changed')
    await first.insertInto(table).values(noteOf('later')).execute()
    mustEqual(await namesIn(second, table), ['kept', 'later'], 'rows afterwards')
  },
  async 'a transaction that ends well is seen by other connections, whole'({ first, second, table }) {
    await first.transaction().execute(async (transaction) => {
      for (const name of ['a', 'b']) await transaction.insertInto(table).values(noteOf(name)).execute()
      mustEqual(await namesIn(transaction, table), ['a', 'b'], 'rows within')
    })
    mustEqual(await namesIn(second, table), ['a', 'b'], 'rows')
  },
  async 'a statement beside a transaction is no part of it'(databases) {
    const { first, second, table } = databases
    let added: Promise<unknown> = Promise.resolve()
    await failing(databases, async () => {
      added = first.insertInto(table).values(noteOf('beside')).execute()
      for (let turn = 0; turn < 10; turn++) await yieldToEventLoop()
    })
    await added
    mustEqual(await namesIn(second, table), ['beside'], 'rows')
  },
  async 'changes of several connections at once are all kept'({ first, second, table }) {
    await first.insertInto(table).values(noteOf('counter')).execute()
    const add = (db: Databases['first']) => () =>
      db.transaction().execute(async (transaction) => {
        let query = transaction.selectFrom(table).select('count').where('name', '=', 'counter')
        if (hasRowLocks(db)) query = query.forUpdate()
        const { count } = await query.executeTakeFirstOrThrow()
        await transaction
          .updateTable(table)
          .set({ count: Number(count) + 1 })
          .execute()
      })
    const works = Array.from({ length: 10 }, () => racingOf(first, second).map(add)).flat()
    await Promise.all(works.map((work) => work()))
    const [row] = await first.selectFrom(table).select('count').execute()
    mustEqual(Number(row?.count), 20, 'the count of 20 transactions that each add 1')
  },
  async 'queries side by side each get their own rows'({ first, table }) {
    await first
      .insertInto(table)
      .values(Array.from({ length: 30 }, (_, at) => noteOf(`row ${at}`)))
      .execute()
    const rows = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        first.selectFrom(table).select('name').where('name', '=', `row ${at}`).execute(),
      ),
    )
    mustEqual(
      rows.flat().map(({ name }) => name),
      Array.from({ length: 30 }, (_, at) => `row ${at}`),
      'rows',
    )
  },
}

/** Runs a transaction that is undone, with other work meanwhile. */
async function failing({ first, table }: Databases, beside: () => Promise<void> = async () => {}): Promise<void> {
  const failure = new Error('undo')
  const work = first.transaction().execute(async (transaction) => {
    await transaction.insertInto(table).values(noteOf('undone')).execute()
    await beside()
    await transaction.updateTable(table).set({ count: 9 }).execute()
    throw failure
  })
  must((await work.catch((error: unknown) => error)) === failure, 'it rejects with the failure')
}

/**
 * Connections for concurrent work. With SQLite only one, since a connection may block the thread that another one
 * needs.
 */
const racingOf = (first: Databases['first'], second: Databases['first']): Databases['first'][] =>
  hasRowLocks(first) ? [first, second] : [first, first]
