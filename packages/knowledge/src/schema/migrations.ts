import { createJobLeases, migrate, type AnyDatabase, type Migrations } from '@inlay/records'
import { sql } from 'kysely'
import { createLargeContents } from './large-contents.ts'
import { linkStart } from './link-index.ts'
import type { Records } from './tables.ts'

/** Brings the tables of documents up to date; safe to call at every start, also by several processes at once. */
export function migrateKnowledge(db: AnyDatabase): Promise<void> {
  return migrate(db, { name: 'knowledge', migrations })
}

const migrations: Migrations = {
  '001-documents': { up: createDocuments },
  '002-pairs': { up: createPairs },
  '003-document-sets': { up: createDocumentSets },
  '004-work': { up: createWork },
  '005-activity-and-tags': { up: createActivityAndTags },
  '006-images': { up: createImages },
  '007-spaces': { up: createSpaces },
  '008-links': { up: createLinks },
  '011-index-identity': { up: addIndexIdentity },
  '010-large-metadata': { up: createDocumentMetadata },
  '009-incarnation': {
    up: (db) => db.schema.alterTable('inlay_documents').renameColumn('born', 'incarnation').execute(),
  },
  '011-newest': { up: createNewest },
  '012-large-contents': { up: createLargeContents },
}

async function createDocuments(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_documents')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('born', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('semantic_identifier', 'text', (column) => column.notNull())
    .addColumn('link', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('content_bytes', 'bigint', (column) => column.notNull())
    .addColumn('accepted_at', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('claim', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('interruptions', 'integer', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('visible_generation', 'text')
    .addColumn('visible_revision', 'bigint')
    .addColumn('chunk_count', 'integer')
    .addColumn('indexed_at', 'bigint')
    .execute()
  // One partial index a state: the planner uses them only for exactly this condition.
  for (const [state, columns] of [
    ['pending', ['due_at', 'revision']],
    ['indexing', ['claim']],
    ['failed', ['id']],
  ] as const)
    await db.schema
      .createIndex(`inlay_documents_${state}`)
      .ifNotExists()
      .on('inlay_documents')
      .columns([...columns])
      .where(sql.ref('state'), '=', state)
      .execute()
  await db.schema
    .createIndex('inlay_documents_source')
    .ifNotExists()
    .on('inlay_documents')
    .columns(['source', 'id'])
    .execute()
  await db.schema
    .createTable('inlay_contents')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute()
}

async function createPairs(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_counters')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('value', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('inlay_pairs')
    .ifNotExists()
    .addColumn('id', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('is_public', 'integer', (column) => column.notNull())
    .addColumn('is_paused', 'integer', (column) => column.notNull())
    .addColumn('is_removed', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('inlay_document_pairs')
    .ifNotExists()
    .addColumn('pair_id', 'integer', (column) => column.notNull())
    .addColumn('document_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('inlay_document_pairs_key', ['pair_id', 'document_id'])
    .execute()
  await db.schema
    .createIndex('inlay_document_pairs_document')
    .ifNotExists()
    .on('inlay_document_pairs')
    .columns(['document_id', 'pair_id'])
    .execute()
  await db
    .insertInto('inlay_counters')
    .values([
      { name: 'revision', value: 0 },
      { name: 'pair', value: 1 },
      { name: 'document_set', value: 0 },
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await db
    .insertInto('inlay_pairs')
    .values({ id: 1, name: 'Default', is_public: 1, is_paused: 0, is_removed: 0, created_at: Date.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function createDocumentSets(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_document_sets')
    .ifNotExists()
    .addColumn('id', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('is_public', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('inlay_document_set_pairs')
    .ifNotExists()
    .addColumn('set_id', 'integer', (column) => column.notNull())
    .addColumn('pair_id', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('inlay_document_set_pairs_key', ['set_id', 'pair_id'])
    .execute()
  await db.schema
    .createTable('inlay_grants')
    .ifNotExists()
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('target_id', 'integer', (column) => column.notNull())
    .addColumn('grantee', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('inlay_grants_key', ['kind', 'target_id', 'grantee', 'name'])
    .execute()
}

async function createWork(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_claims')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('generations', 'text', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('inlay_dead_generations')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('generations', 'text', (column) => column.notNull())
    .addColumn('chunk_count', 'integer', (column) => column.notNull())
    .execute()
  await createJobLeases(db)
  await db.schema
    .createTable('inlay_index_spaces')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('embedder', 'text', (column) => column.notNull())
    .addColumn('dimensions', 'integer', (column) => column.notNull())
    .execute()
}

async function createActivityAndTags(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_pair_activity')
    .ifNotExists()
    .addColumn('pair_id', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('accepted_at', 'bigint')
    .addColumn('indexed_at', 'bigint')
    .execute()
  await db.schema
    .createTable('inlay_tags')
    .ifNotExists()
    .addColumn('id', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('tag_key', 'text', (column) => column.notNull())
    .addColumn('tag_value', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('wording', 'text', (column) => column.notNull())
    .addUniqueConstraint('inlay_tags_name', ['tag_key', 'tag_value', 'source'])
    .execute()
  await db.schema
    .createTable('inlay_document_tags')
    .ifNotExists()
    .addColumn('tag_id', 'integer', (column) => column.notNull())
    .addColumn('pair_id', 'integer', (column) => column.notNull())
    .addColumn('document_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('inlay_document_tags_key', ['tag_id', 'pair_id', 'document_id'])
    .execute()
  await db.schema
    .createIndex('inlay_document_tags_document')
    .ifNotExists()
    .on('inlay_document_tags')
    .column('document_id')
    .execute()
  await db.schema
    .createIndex('inlay_documents_failed_at')
    .ifNotExists()
    .on('inlay_documents')
    .columns(['due_at', 'id'])
    .where(sql.ref('state'), '=', 'failed')
    .execute()
  await db
    .insertInto('inlay_counters')
    .values({ name: 'tag', value: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function createImages(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_document_images')
    .ifNotExists()
    .addColumn('image_id', 'text', (column) => column.notNull())
    .addColumn('document_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('inlay_document_images_key', ['image_id', 'document_id'])
    .execute()
  await db.schema
    .createIndex('inlay_document_images_document')
    .ifNotExists()
    .on('inlay_document_images')
    .column('document_id')
    .execute()
}

/** In place of `inlay_index_spaces`, which knew one space: SQLite cannot add a column "if it is not there". */
async function createSpaces(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_spaces')
    .ifNotExists()
    .addColumn('number', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('embedder', 'text', (column) => column.notNull())
    .addColumn('dimensions', 'integer', (column) => column.notNull())
    .addColumn('phase', 'text', (column) => column.notNull())
    .execute()
  await sql`
    insert into inlay_spaces (number, embedder, dimensions, phase)
    select 0, embedder, dimensions, 'open' from inlay_index_spaces where true
    on conflict do nothing`.execute(db)
}

/** For listings with the last accepted first. */
async function createNewest(db: Records): Promise<void> {
  await db.schema
    .createIndex('inlay_documents_revision')
    .ifNotExists()
    .on('inlay_documents')
    .column('revision')
    .execute()
}

async function createLinks(db: Records): Promise<void> {
  await db.schema
    .createIndex('inlay_documents_link')
    .ifNotExists()
    .on('inlay_documents')
    .expression(linkStart)
    .where(sql.ref('link'), '<>', '')
    .execute()
}

async function createDocumentMetadata(db: Records): Promise<void> {
  await db.schema
    .createTable('inlay_document_metadata')
    .addColumn('document_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('metadata', 'text', (column) => column.notNull())
    .execute()
}

async function addIndexIdentity(db: Records): Promise<void> {
  for (const name of ['identity', 'rebuild_reason'])
    await db.schema.alterTable('inlay_spaces').addColumn(name, 'text').execute()
}
