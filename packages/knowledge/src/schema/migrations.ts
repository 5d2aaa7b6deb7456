import {
  jobLeaseTable,
  migrate,
  statements,
  type AnyDatabase,
  type MigrationMode,
  type Migrations,
  type MigrationStep,
} from '@inlay/records'
import type { Migration } from 'kysely/migration'
import { createDocumentNames } from './document-names.ts'
import { createPairCounts } from './pair-counts.ts'

/** Creates and migrates the tables of documents. Safe at every start, even of several processes at once. */
export function migrateKnowledge(db: AnyDatabase, mode?: MigrationMode): Promise<readonly MigrationStep[]> {
  return migrate(db, { name: 'knowledge', expand }, mode)
}

const tables = statements(
  {
    inlay_documents: `
      id text not null primary key, revision bigint not null, incarnation bigint not null, state text not null,
      hash text not null, semantic_identifier text not null, link text not null, source text not null,
      content_bytes bigint not null, accepted_at bigint not null, due_at bigint not null, claim text,
      attempts integer not null, failures integer not null, interruptions integer not null, reason text,
      visible_generation text, visible_revision bigint, chunk_count integer, indexed_at bigint`,
    inlay_contents: 'id text not null primary key, content text not null',
    inlay_counters: 'name text not null primary key, value bigint not null',
    inlay_pairs: `
      id integer not null primary key, name text not null, is_public integer not null,
      is_paused integer not null, is_removed integer not null, created_at bigint not null`,
    inlay_document_pairs: `
      pair_id integer not null, document_id text not null,
      constraint inlay_document_pairs_key primary key (pair_id, document_id)`,
    inlay_document_sets: `
      id integer not null primary key, name text not null unique, description text not null,
      is_public integer not null, created_at bigint not null`,
    inlay_document_set_pairs: `
      set_id integer not null, pair_id integer not null,
      constraint inlay_document_set_pairs_key primary key (set_id, pair_id)`,
    inlay_grants: `
      kind text not null, target_id integer not null, grantee text not null, name text not null,
      constraint inlay_grants_key primary key (kind, target_id, grantee, name)`,
    inlay_claims: `
      id text not null primary key, owner text not null, generations text not null, lease_until bigint not null`,
    inlay_dead_generations: `
      id text not null primary key, generations text not null, chunk_count integer not null`,
    ...jobLeaseTable,
    // Empty: only the start of the first version reads it.
    inlay_index_spaces: 'name text not null primary key, embedder text not null, dimensions integer not null',
    inlay_spaces: `
      number integer not null primary key, embedder text not null, dimensions integer not null, phase text not null,
      identity text, rebuild_reason text`,
    inlay_pair_activity: 'pair_id integer not null primary key, accepted_at bigint, indexed_at bigint',
    inlay_tags: `
      id integer not null primary key, tag_key text not null, tag_value text not null, source text not null,
      wording text not null, constraint inlay_tags_name unique (tag_key, tag_value, source)`,
    inlay_document_tags: `
      tag_id integer not null, pair_id integer not null, document_id text not null,
      constraint inlay_document_tags_key primary key (tag_id, pair_id, document_id)`,
    inlay_document_images: `
      image_id text not null, document_id text not null,
      constraint inlay_document_images_key primary key (image_id, document_id)`,
    inlay_document_metadata: 'document_id text not null primary key, metadata text not null',
  },
  // One partial index per state: the planner uses it only for exactly this condition.
  `create index inlay_documents_pending on inlay_documents (due_at, revision) where state = 'pending'`,
  `create index inlay_documents_indexing on inlay_documents (claim) where state = 'indexing'`,
  `create index inlay_documents_failed on inlay_documents (id) where state = 'failed'`,
  `create index inlay_documents_failed_at on inlay_documents (due_at, id) where state = 'failed'`,
  'create index inlay_documents_source on inlay_documents (source, id)',
  'create index inlay_documents_revision on inlay_documents (revision)',
  `create index inlay_documents_link on inlay_documents (substr(link, 1, 400)) where link <> ''`,
  'create index inlay_document_pairs_document on inlay_document_pairs (document_id, pair_id)',
  'create index inlay_document_tags_document on inlay_document_tags (document_id)',
  'create index inlay_document_images_document on inlay_document_images (document_id)',
  `insert into inlay_counters (name, value) values ('revision', 0), ('pair', 1), ('document_set', 0), ('tag', 0)`,
)

const first: Migration = {
  async up(db) {
    await tables.up(db)
    const row = { id: 1, name: 'Default', is_public: 1, is_paused: 0, is_removed: 0, created_at: Date.now() }
    await db.insertInto('inlay_pairs').values(row).execute()
  },
}

const expand: Migrations = {
  '001-documents': first,
  // Large documents store their texts in parts, so that no read or write blocks for long.
  '012-large-contents': statements(
    'alter table inlay_contents add column large_id text',
    'create index inlay_contents_large on inlay_contents (large_id) where large_id is not null',
    {
      inlay_large_contents: `
        id text not null primary key, document text not null, owner text not null, lease_until bigint not null`,
      inlay_content_parts: `
        large_id text not null, position integer not null, text text not null,
        constraint inlay_content_parts_key primary key (large_id, position)`,
    },
  ),
  '013-file-holds': statements({
    inlay_file_holds: `
      id text not null, file_id text not null, lease_until bigint not null,
      constraint inlay_file_holds_key primary key (file_id, id)`,
  }),
  '014-figures': statements({
    inlay_figures: 'name text not null primary key, sampled_at bigint not null, figures text not null',
  }),
  '015-pair-counts': { up: createPairCounts },
  // For access checks, and for listings of one source or state, newest first.
  '016-list-indexes': statements(
    'create index inlay_grants_name on inlay_grants (name, kind, grantee, target_id)',
    'create index inlay_pairs_is_paused on inlay_pairs (id) where is_paused = 1',
    'create index inlay_pairs_is_removed on inlay_pairs (id) where is_removed = 1',
    'create index inlay_documents_source_revision on inlay_documents (source, revision)',
  ),
  '017-document-names': { up: createDocumentNames },
  // For listings in order of titles and sizes.
  '018-list-orders': statements(
    'create index inlay_documents_title on inlay_documents (lower(substr(semantic_identifier, 1, 200)), revision)',
    'create index inlay_documents_size on inlay_documents (content_bytes, revision)',
  ),
  '019-inbox': statements(
    { inlay_inbox: 'id generated, document_id text not null, task text not null, large_id text' },
    'create index inlay_inbox_document on inlay_inbox (document_id)',
  ),
}
