import type { Migration } from 'kysely/migration'

/** A column that earlier versions wrote: numbers of an answer in none of the texts its model read. Nothing reads it. */
export const unsupportedNumbersMigration: Migration = {
  up: (db) => db.schema.alterTable('inlay_chat_messages').addColumn('unsupported_numbers', 'text').execute(),
}
