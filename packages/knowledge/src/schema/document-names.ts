import { arrayLiteral, dialectOf } from '@inlay/records'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { holdDocuments } from './hold-documents.ts'
import type { Records } from './tables.ts'

/** Length of the n-grams by which listings find a text. */
const pieceCharacters = 3

/**
 * Titles and ids of documents in lower case with an n-gram index, kept up to date by triggers, so that a listing finds
 * a rare text among any number of documents.
 */
export async function createDocumentNames(db: Records): Promise<void> {
  await holdDocuments(db)
  await sql`
    create table inlay_document_names (document_id text primary key not null, name text not null)`.execute(db)
  const isSqlite = dialectOf(db) === 'sqlite'
  const name = (row: string): string => `substr(lower(${row}semantic_identifier), 1, 1000) || ' ' || lower(${row}id)`
  await sql`
    insert into inlay_document_names (document_id, name)
    select id, ${sql.raw(name(''))} from inlay_documents`.execute(db)
  if (isSqlite) {
    await sql`
      create virtual table inlay_document_names_index using fts5(
        name, content='inlay_document_names', detail=none, columnsize=0, tokenize='trigram')`.execute(db)
    // Removes deleted names from the index at once. Older versions of SQLite do not have this option.
    await sql`insert into inlay_document_names_index (inlay_document_names_index, rank) values ('secure-delete', 1)`
      .execute(db)
      .catch(() => {})
  }
  for (const statement of isSqlite ? onSqlite(name('new.')) : onPostgres(name('new.')))
    await sql.raw(statement).execute(db)
}

function onSqlite(name: string): string[] {
  const row = 'insert into inlay_document_names_index (rowid, name)'
  const gone =
    "insert into inlay_document_names_index (inlay_document_names_index, rowid, name) values ('delete', old.rowid, old.name);"
  return [
    `insert into inlay_document_names_index (inlay_document_names_index) values ('rebuild')`,
    `create trigger inlay_document_names_added after insert on inlay_document_names begin
       ${row} values (new.rowid, new.name); end`,
    `create trigger inlay_document_names_removed after delete on inlay_document_names begin ${gone} end`,
    `create trigger inlay_document_names_changed after update of name on inlay_document_names begin
       ${gone} ${row} values (new.rowid, new.name); end`,
    `create trigger inlay_documents_named after insert on inlay_documents begin
       insert into inlay_document_names (document_id, name) values (new.id, ${name}); end`,
    `create trigger inlay_documents_renamed after update of semantic_identifier on inlay_documents
       when old.semantic_identifier <> new.semantic_identifier begin
       update inlay_document_names set name = ${name} where document_id = new.id; end`,
    `create trigger inlay_documents_unnamed after delete on inlay_documents begin
       delete from inlay_document_names where document_id = old.id; end`,
  ]
}

function onPostgres(name: string): string[] {
  const trigger = (event: string, of: string, condition: string, body: string): string[] => [
    `create function inlay_documents_${of}() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`,
    `create trigger inlay_documents_${of} after ${event} on inlay_documents for each row ${condition}
     execute function inlay_documents_${of}()`,
  ]
  return [
    `create function inlay_pieces(value text) returns text[] language sql immutable strict parallel safe as
     $$ select array_agg(distinct substr(value, at, ${pieceCharacters})) from generate_series(1, length(value) - 2) as at $$`,
    `create index inlay_document_names_index on inlay_document_names using gin (inlay_pieces(name))`,
    ...trigger('insert', 'named', '', `insert into inlay_document_names (document_id, name) values (new.id, ${name})`),
    ...trigger(
      'update of semantic_identifier',
      'renamed',
      'when (old.semantic_identifier <> new.semantic_identifier)',
      `update inlay_document_names set name = ${name} where document_id = new.id`,
    ),
    ...trigger('delete', 'unnamed', '', 'delete from inlay_document_names where document_id = old.id'),
  ]
}

/**
 * Query condition: the index contains all n-grams of a text for the document, so its title or id may contain the text.
 * Undefined for a text that is too short.
 */
export function mayBeNamed(db: Records, text: string): RawBuilder<SqlBool> | undefined {
  const signs = [...text]
  if (signs.length < pieceCharacters) return undefined
  const pieces = [...new Set(signs.slice(2).map((sign, at) => `${signs[at]}${signs[at + 1]}${sign}`))]
  if (dialectOf(db) !== 'sqlite')
    return sql<SqlBool>`inlay_documents.id in (
      select document_id from inlay_document_names where inlay_pieces(name) @> cast(${arrayLiteral(pieces)} as text[])
    )`
  const query = pieces.map((piece) => `"${piece.replaceAll('"', '""')}"`).join(' ')
  return sql<SqlBool>`inlay_documents.id in (
    select document_id from inlay_document_names where rowid in (
      select rowid from inlay_document_names_index where inlay_document_names_index match ${query}
    )
  )`
}
