import { sql } from 'kysely'
import type { Records } from './tables.ts'

/** Large documents store their texts in parts, so that no read or write blocks for long. */
export async function createLargeContents(db: Records): Promise<void> {
  await db.schema.alterTable('inlay_contents').addColumn('large_id', 'text').execute()
  await db.schema
    .createIndex('inlay_contents_large')
    .on('inlay_contents')
    .column('large_id')
    .where(sql.ref('large_id'), 'is not', null)
    .execute()
  await db.schema
    .createTable('inlay_large_contents')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('inlay_content_parts')
    .addColumn('large_id', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('inlay_content_parts_key', ['large_id', 'position'])
    .execute()
}
