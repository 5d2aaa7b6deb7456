import { InlayError } from '@inlay/protocol'

export interface PgTables {
  readonly rows: string
  readonly words: string
  readonly meta: string
}

/** Table names for a prefix. They are inserted into SQL as they are, so only plain identifiers are accepted. */
export function tablesOf(prefix: string): PgTables {
  if (!/^[a-z_][a-z0-9_]{0,43}$/i.test(prefix))
    throw new InlayError('INVALID_INPUT', {
      message: 'A table prefix may contain letters, digits and "_", at most 44 characters.',
    })
  return { rows: `${prefix}_rows`, words: `${prefix}_words`, meta: `${prefix}_meta` }
}

/** Names of the tables and indexes that {@link schemaOf} creates. */
export function relationsOf({ rows, words, meta }: PgTables): string[] {
  return [meta, words, rows, `${rows}_text`, `${rows}_document`, `${rows}_tags`, `${rows}_pairs`]
}

/** Statements that create missing tables and indexes; each is idempotent. */
export function schemaOf(tables: PgTables, language: string, dimensions: number | undefined): string[] {
  if (!/^[a-z_]{1,60}$/.test(language))
    throw new InlayError('INVALID_INPUT', {
      message: 'The name of a text search configuration may contain lower-case letters and "_".',
    })
  return [
    ...(dimensions === undefined ? [] : ['create extension if not exists vector']),
    `create table if not exists ${tables.meta} (singleton boolean primary key, space text not null)`,
    `create table if not exists ${tables.words} (word text collate "C" primary key)`,
    `create table if not exists ${tables.rows} (
      document_id text not null, generation text not null, position int not null, text text not null,
      source text not null, tags text[] not null, pairs int[] not null, updated_at bigint not null,
      own_updated_at bigint, created_at bigint, card text not null, words tsvector not null,
      ${dimensions === undefined ? '' : `vector vector(${Math.trunc(dimensions)}) not null,`}
      primary key (generation, position))`,
    `create index if not exists ${tables.rows}_text on ${tables.rows} using gin (words)`,
    `create index if not exists ${tables.rows}_document on ${tables.rows} (document_id)`,
    `create index if not exists ${tables.rows}_tags on ${tables.rows} using gin (tags)`,
    `create index if not exists ${tables.rows}_pairs on ${tables.rows} using gin (pairs)`,
  ]
}
