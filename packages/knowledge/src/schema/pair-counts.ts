import { createTables, dialectOf } from '@inlay/records'
import { sql } from 'kysely'
import { holdDocuments } from './hold-documents.ts'
import type { Records } from './tables.ts'

/**
 * Counts of documents by pair, source and state, kept up to date by triggers. The count is the sum of all rows with the
 * same key. PostgreSQL only adds rows, so that writers do not wait for each other; {@link foldCounts} merges them.
 */
export async function createPairCounts(db: Records): Promise<void> {
  await holdDocuments(db)
  await createTables(db, {
    inlay_pair_counts: `
      id generated, pair_id integer not null, source text not null, state text not null, amount bigint not null`,
  })
  const isSqlite = dialectOf(db) === 'sqlite'
  const kind = sql.raw(isSqlite ? 'unique index' : 'index')
  await sql`create ${kind} inlay_pair_counts_pair on inlay_pair_counts (pair_id, source, state)`.execute(db)
  await sql`
    insert into inlay_pair_counts (pair_id, source, state, amount)
    select pair_id, source, state, count(*) from inlay_document_pairs
    join inlay_documents on inlay_documents.id = document_id group by pair_id, source, state`.execute(db)
  for (const trigger of isSqlite ? sqliteTriggers() : postgresTriggers()) await sql.raw(trigger).execute(db)
}

/** Merges the rows of each count. Safe in several processes at once. */
export async function foldCounts(db: Records): Promise<void> {
  if (dialectOf(db) === 'sqlite') return
  await sql`
    with taken as (delete from inlay_pair_counts returning pair_id, source, state, amount)
    insert into inlay_pair_counts (pair_id, source, state, amount)
    select pair_id, source, state, sum(amount) from taken group by pair_id, source, state having sum(amount) <> 0
  `.execute(db)
}

/** Counts all documents and corrects the difference, in one statement, which sees a consistent snapshot. */
export async function repairCounts(db: Records): Promise<void> {
  const known = sql`
    select pair_id, source, state, sum(amount) as amount from (
      select pair_id, source, state, count(*) as amount from inlay_document_pairs
      join inlay_documents on inlay_documents.id = document_id group by pair_id, source, state
      union all select pair_id, source, state, -sum(amount) from inlay_pair_counts group by pair_id, source, state
    ) as counted group by pair_id, source, state having sum(amount) <> 0`
  const insert = sql`insert into inlay_pair_counts (pair_id, source, state, amount) ${known}`
  await (dialectOf(db) === 'sqlite' ? sql`${insert} ${sql.raw(addUp)}` : insert).execute(db)
}

const addUp = 'on conflict (pair_id, source, state) do update set amount = amount + excluded.amount'

function sqliteTriggers(): string[] {
  const count = (row: 'new' | 'old', amount: 1 | -1): string => `
    insert into inlay_pair_counts (pair_id, source, state, amount)
    select pair_id, ${row}.source, ${row}.state, ${amount} from inlay_document_pairs where document_id = ${row}.id
    ${addUp};`
  const join = (row: 'new' | 'old', amount: 1 | -1): string => `
    insert into inlay_pair_counts (pair_id, source, state, amount)
    select ${row}.pair_id, source, state, ${amount} from inlay_documents where id = ${row}.document_id
    ${addUp};`
  return [
    `create trigger inlay_documents_counted after insert on inlay_documents begin ${count('new', 1)} end`,
    `create trigger inlay_documents_recounted after update of state, source on inlay_documents
     when old.state <> new.state or old.source <> new.source begin ${count('old', -1)} ${count('new', 1)} end`,
    `create trigger inlay_documents_uncounted after delete on inlay_documents begin ${count('old', -1)} end`,
    `create trigger inlay_document_pairs_counted after insert on inlay_document_pairs begin ${join('new', 1)} end`,
    `create trigger inlay_document_pairs_uncounted after delete on inlay_document_pairs begin ${join('old', -1)} end`,
  ]
}

function postgresTriggers(): string[] {
  const add = 'insert into inlay_pair_counts (pair_id, source, state, amount)'
  const documents = (rows: string): string => `
    ${add} select pair_id, source, state, sum(change) from (${rows}) as changed
    join inlay_document_pairs on document_id = changed.id
    group by pair_id, source, state having sum(change) <> 0;`
  const pairs = (rows: string, change: 1 | -1): string => `
    ${add} select pair_id, source, state, ${change} * count(*) from ${rows}
    join inlay_documents on inlay_documents.id = document_id group by pair_id, source, state;`
  const changed = `
    select o.id, o.source, o.state, -1 as change from old_rows as o join new_rows as n on n.id = o.id
    where (o.state, o.source) <> (n.state, n.source)
    union all select n.id, n.source, n.state, 1 from old_rows as o join new_rows as n on n.id = o.id
    where (o.state, o.source) <> (n.state, n.source)`
  const define = (name: string, table: string, event: 'insert' | 'update' | 'delete', body: string): string[] => {
    const rows = [
      ...(event === 'insert' ? [] : ['old table as old_rows']),
      ...(event === 'delete' ? [] : ['new table as new_rows']),
    ]
    return [
      `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
      `create trigger ${name} after ${event} on ${table} referencing ${rows.join(' ')}
       for each statement execute function ${name}()`,
    ]
  }
  const [own, membership] = ['inlay_documents', 'inlay_document_pairs']
  return [
    ...define(
      'inlay_documents_counted',
      own,
      'insert',
      documents('select id, source, state, 1 as change from new_rows'),
    ),
    ...define('inlay_documents_recounted', own, 'update', documents(changed)),
    ...define(
      'inlay_documents_uncounted',
      own,
      'delete',
      documents('select id, source, state, -1 as change from old_rows'),
    ),
    ...define('inlay_document_pairs_counted', membership, 'insert', pairs('new_rows', 1)),
    ...define('inlay_document_pairs_uncounted', membership, 'delete', pairs('old_rows', -1)),
  ]
}
