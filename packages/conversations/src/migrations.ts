import { migrate } from '@inlay/records'
import type { CreateTableBuilder, Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { fileClaimMigration, libraryMigration } from './files/migration.ts'
import { memoryMigration } from './memories/migration.ts'
import { processMigration, sharedRunMigration } from './runs/migration.ts'
import { sessionMigration } from './sessions/migration.ts'
import { researchMigration } from './sessions/research-migration.ts'
import { actionSwitchMigration, storedToolMigration } from './custom-tools/migration.ts'

const first: Migration = {
  async up(db) {
    // SQLite would give the ids of deleted rows away again, Postgres needs an identity.
    const isSqlite = !db.getExecutor().adapter.supportsTransactionalDdl
    const id = (name: string) =>
      db.schema
        .createTable(name)
        .addColumn('id', 'integer', (column) =>
          isSqlite ? column.primaryKey().autoIncrement() : column.generatedByDefaultAsIdentity().primaryKey(),
        )
    await db.schema
      .createTable('inlay_chat_sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('persona_id', 'integer', (column) => column.notNull())
      .addColumn('project_id', 'integer')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .addColumn('is_public', 'integer', (column) => column.notNull())
      .addColumn('model_override', 'text')
      .addColumn('temperature', 'double precision')
      .execute()
    await id('inlay_chat_messages')
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('parent_id', 'integer')
      .addColumn('latest_child_id', 'integer')
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint')
      .addColumn('duration_ms', 'bigint')
      .addColumn('origin', 'text')
      .addColumn('feedback', 'text')
      .addColumn('preferred_response_id', 'integer')
      .addColumn('error_code', 'text')
      .addColumn('model_provider', 'text')
      .addColumn('model_name', 'text')
      .addColumn('model_display_name', 'text')
      .addColumn('error', 'text')
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('reasoning', 'text')
      .addColumn('files', 'text')
      .addColumn('citations', 'text')
      .addColumn('documents', 'text')
      .execute()
    await createToolCalls(id)
    await createSendKeys(db)
    await addIndexes(db)
  },
}

async function createToolCalls(id: (name: string) => CreateTableBuilder<string, 'id'>): Promise<void> {
  await id('inlay_chat_tool_calls')
    .addColumn('message_id', 'integer', (column) => column.notNull())
    .addColumn('step', 'integer', (column) => column.notNull())
    .addColumn('turn_index', 'integer', (column) => column.notNull())
    .addColumn('tab_index', 'integer', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('action_id', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('failed', 'integer', (column) => column.notNull())
    .addColumn('arguments', 'text', (column) => column.notNull())
    .addColumn('result', 'text', (column) => column.notNull())
    .addColumn('reasoning', 'text')
    .addColumn('packets', 'text')
    .addColumn('documents', 'text')
    .addColumn('images', 'text')
    .execute()
}

async function createSendKeys(db: Parameters<Migration['up']>[0]): Promise<void> {
  await db.schema
    .createTable('inlay_chat_send_keys')
    .addColumn('owner_id', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('message_id', 'integer', (column) => column.notNull())
    .addColumn('opened_session', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('lines', 'text')
    .addPrimaryKeyConstraint('inlay_chat_send_keys_pk', ['owner_id', 'key'])
    .execute()
}

async function addIndexes(db: Parameters<Migration['up']>[0]): Promise<void> {
  const index = (name: string, table: string, columns: string[]) =>
    db.schema.createIndex(name).on(table).columns(columns)
  await index('inlay_chat_sessions_owner', 'inlay_chat_sessions', ['owner_id', 'updated_at']).execute()
  await index('inlay_chat_messages_session', 'inlay_chat_messages', ['session_id', 'id']).execute()
  await index('inlay_chat_messages_running', 'inlay_chat_messages', ['seen_at'])
    .where('status', '=', 'running')
    .execute()
  await index('inlay_chat_tool_calls_message', 'inlay_chat_tool_calls', ['message_id', 'id']).execute()
  await index('inlay_chat_send_keys_age', 'inlay_chat_send_keys', ['created_at']).execute()
}

/**
 * Brings the tables of conversations up to date, on SQLite or Postgres. Call it before they are used; safe at every start
 * and from several processes at once.
 */
export async function migrateConversations(db: Kysely<unknown>): Promise<void> {
  await migrate(db, {
    // Databases know these steps by the name of the package that had them first.
    name: 'agent',
    migrations: {
      '0001-conversations': first,
      '0002-library': libraryMigration,
      '0003-sessions': sessionMigration,
      '0004-memories': memoryMigration,
      '0005-stored-tools': storedToolMigration,
      '0006-research': researchMigration,
      '0007-action-switches': actionSwitchMigration,
      '0008-file-claims': fileClaimMigration,
      '0009-shared-runs': sharedRunMigration,
      '0010-processes': processMigration,
    },
  })
}
