import type { Migration } from 'kysely/migration'

/** Stores the numbers of an answer that are in none of the texts its model read. */
export const unsupportedNumbersMigration: Migration = {
  up: (db) => db.schema.alterTable('inlay_chat_messages').addColumn('unsupported_numbers', 'text').execute(),
}
