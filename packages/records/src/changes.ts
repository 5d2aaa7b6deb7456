import { InlayError } from '@inlay/protocol'
import { sql } from 'kysely'
import type { CopiedTable, RowKey } from './copy-rows.ts'
import { dialectOf, type AnyDatabase } from './dialect.ts'
import { isRefusal } from './migrate.ts'
import { isAmong } from './value-sets.ts'

/**
 * What triggers do with changes of rows: note their keys, or refuse them in every process, with an error that the drivers
 * know by its text.
 */
export type ChangePolicy = 'note' | 'inlay_moving' | 'inlay_moved'

/** Keys of changed rows. Only added to and removed from, so that no writer waits for another. */
export const changesTable = 'inlay_move_changes'

const triggerName = (table: string, event: string): string => `${table}_move_${event}`
const events = ['insert', 'update', 'delete'] as const

/** From now on, changes of rows are noted or refused. Changes that are under way when this is called are noted. */
export async function onChanges(db: AnyDatabase, tables: readonly CopiedTable[], policy: ChangePolicy): Promise<void> {
  await (dialectOf(db) === 'sqlite' ? onSqlite : onPostgres)(db, tables, policy)
}

async function onSqlite(db: AnyDatabase, tables: readonly CopiedTable[], policy: ChangePolicy): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const run = (statement: string): Promise<unknown> => sql.raw(statement).execute(transaction)
    await run(
      `create table if not exists ${changesTable} (id integer primary key, name text not null, key text not null)`,
    )
    for (const { name, key } of tables)
      for (const event of events) {
        const keyIn = (row: string): string =>
          `('${name}', json_array(${key.map((part) => `${row}."${part}"`).join()}))`
        const rows = { insert: ['new'], update: ['old', 'new'], delete: ['old'] }[event].map(keyIn).join()
        const note = `insert into ${changesTable} (name, key) values ${rows}`
        await run(`drop trigger if exists ${triggerName(name, event)}`)
        await run(
          `create trigger ${triggerName(name, event)} ${policy === 'note' ? 'after' : 'before'} ${event} on ${name}
           begin ${policy === 'note' ? note : `select raise(abort, '${policy}')`}; end`,
        )
      }
  })
}

/** Notes the old and the new key of a row. The argument is the list of its columns. */
const noteBody = `
  if tg_op <> 'DELETE' then
    execute format('select json_build_array(%s)::text', tg_argv[0]) into key using new;
    insert into ${changesTable} (name, key) values (tg_table_name, key);
  end if;
  if tg_op <> 'INSERT' then
    execute format('select json_build_array(%s)::text', tg_argv[0]) into key using old;
    insert into ${changesTable} (name, key) values (tg_table_name, key);
  end if;
  return null;`

async function onPostgres(db: AnyDatabase, tables: readonly CopiedTable[], policy: ChangePolicy): Promise<void> {
  const run = (statement: string): Promise<unknown> => sql.raw(statement).execute(db)
  await run(`create table if not exists ${changesTable}
    (id bigint generated always as identity primary key, name text not null, key text not null)`)
  // Replacing the function locks no table: a lock on all of them could never be had while people write. Those who write
  // may have another search path, or a role without rights in the table of changes.
  await run(`create or replace function inlay_move_change() returns trigger language plpgsql
    security definer set search_path from current as $$
    declare key text; begin ${policy === 'note' ? noteBody : `raise exception '${policy}';`} end $$`)
  for (const { name, key } of tables) {
    const columns = key.map((part) => `$1."${part}"`).join()
    const trigger = triggerName(name, 'change')
    const { rows } = await sql`
      select from pg_trigger where tgname = ${trigger} and tgrelid = ${name}::regclass`.execute(db)
    await db.transaction().execute(async (held) => {
      await sql`set local lock_timeout = ${sql.lit(openTransactionMs)}`.execute(held)
      // Waits for transactions that wrote before: their changes are then noted.
      const statement =
        policy === 'note'
          ? `create or replace trigger ${trigger} after insert or update or delete on ${name}
             for each row execute function inlay_move_change('${columns}')`
          : `lock table ${name} in share mode`
      if (policy !== 'note' || rows.length === 0) await sql.raw(statement).execute(held).catch(toOpenTransaction(name))
    })
  }
}

function toOpenTransaction(table: string): (cause: unknown) => never {
  return (cause) => {
    if (!isRefusal(cause, '55P03')) throw cause
    const message = `A transaction that has written to ${table} is still open: end it, and run the command again.`
    throw new InlayError('CONFLICT', { message, cause })
  }
}

/** How long a transaction may be open while writes wait for it or are refused, in milliseconds. */
const openTransactionMs = 5000

/** Changes are neither noted nor refused any more. */
export async function forgetChanges(db: AnyDatabase, tables: readonly CopiedTable[]): Promise<void> {
  const isSqlite = dialectOf(db) === 'sqlite'
  for (const { name } of tables)
    for (const event of isSqlite ? events : ['change'])
      await sql.raw(`drop trigger if exists ${triggerName(name, event)} ${isSqlite ? '' : `on ${name}`}`).execute(db)
  if (!isSqlite) await sql`drop function if exists inlay_move_change()`.execute(db)
  await sql`drop table if exists ${sql.table(changesTable)}`.execute(db)
}

/** Keys that were noted, by table. */
export interface NotedChanges {
  readonly ids: readonly number[]
  readonly keys: ReadonlyMap<string, readonly RowKey[]>
}

/** The oldest noted changes. Rows have to be read afterwards, and only then {@link dropNoted} called. */
export async function notedChanges(db: AnyDatabase, limit: number): Promise<NotedChanges> {
  const { rows } = await sql<{ id: unknown; name: string; key: string }>`
    select id, name, key from ${sql.table(changesTable)} order by id limit ${sql.lit(limit)}`.execute(db)
  const byTable = Map.groupBy(rows, ({ name }) => name)
  return {
    ids: rows.map(({ id }) => Number(id)),
    keys: new Map(
      [...byTable].map(([name, noted]) => [
        name,
        [...new Set(noted.map(({ key }) => key))].map((key) => JSON.parse(key) as RowKey),
      ]),
    ),
  }
}

/** By id, not up to one: a transaction that commits later may have a lower one. */
export async function dropNoted(db: AnyDatabase, { ids }: NotedChanges): Promise<void> {
  await db
    .deleteFrom(changesTable)
    .where(isAmong(db, 'id', ids))
    .execute()
}

/** Notes keys of rows as if these had changed. */
export async function noteKeys(db: AnyDatabase, { name }: CopiedTable, keys: readonly RowKey[]): Promise<void> {
  const values = keys.map((key) => ({ name, key: JSON.stringify(key) }))
  if (values.length > 0) await db.insertInto(changesTable).values(values).execute()
}
