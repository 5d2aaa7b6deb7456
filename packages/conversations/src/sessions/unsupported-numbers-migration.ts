import type { Migration } from 'kysely/migration'

/** Keeps which numbers of an answer stand in nothing its model read. */
export const unsupportedNumbersMigration: Migration = {
  up: (db) => db.schema.alterTable('inlay_chat_messages').addColumn('unsupported_numbers', 'text').execute(),
}
