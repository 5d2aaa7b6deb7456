import { holdTable, migrate, statements, type MigrationMode, type Migrations, type MigrationStep } from '@inlay/records'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { libraryMigration } from './files/migration.ts'
import { memoryMigration } from './memories/migration.ts'
import { sharedRunMigration } from './run-records/migration.ts'
import { linesContraction } from './sessions/lines-migration.ts'
import { sessionMigration } from './sessions/migration.ts'
import { searchMigration } from './sessions/search-migration.ts'
import { storedToolMigration } from './custom-tools/migration.ts'

const first: Migration = statements(
  {
    inlay_chat_sessions: `
      id text primary key, owner_id text not null, name text not null, persona_id integer not null,
      project_id integer, created_at bigint not null, updated_at bigint not null, deleted_at bigint,
      is_public integer not null, model_override text, temperature double precision`,
    inlay_chat_messages: `
      id generated, session_id text not null, parent_id integer, latest_child_id integer, role text not null,
      status text not null, created_at bigint not null, seen_at bigint, duration_ms bigint, origin text,
      feedback text, preferred_response_id integer, error_code text, model_provider text, model_name text,
      model_display_name text, error text, text text not null, reasoning text, files text, citations text,
      documents text`,
    inlay_chat_tool_calls: `
      id generated, message_id integer not null, step integer not null, turn_index integer not null,
      tab_index integer not null, call_id text not null, action_id integer not null, name text not null,
      failed integer not null, arguments text not null, result text not null, reasoning text, packets text,
      documents text, images text`,
    inlay_chat_send_keys: `
      owner_id text not null, key text not null, body_hash text not null, session_id text not null,
      message_id integer not null, opened_session integer not null, created_at bigint not null, lines text,
      constraint inlay_chat_send_keys_pk primary key (owner_id, key)`,
  },
  'create index inlay_chat_sessions_owner on inlay_chat_sessions (owner_id, updated_at)',
  'create index inlay_chat_messages_session on inlay_chat_messages (session_id, id)',
  `create index inlay_chat_messages_running on inlay_chat_messages (seen_at) where status = 'running'`,
  'create index inlay_chat_tool_calls_message on inlay_chat_tool_calls (message_id, id)',
  'create index inlay_chat_send_keys_age on inlay_chat_send_keys (created_at)',
)

const expand: Migrations = {
  '0001-conversations': first,
  '0002-library': libraryMigration,
  '0003-sessions': sessionMigration,
  '0004-memories': memoryMigration,
  '0005-stored-tools': storedToolMigration,
  // Which calls belong to a research agent, and to which of its steps.
  '0006-research': statements(
    'alter table inlay_chat_tool_calls add column parent_call_id text',
    'alter table inlay_chat_tool_calls add column sub_turn_index integer',
  ),
  '0007-action-switches': statements({ inlay_agent_action_off: 'id integer primary key' }),
  '0008-file-claims': statements('alter table inlay_files add column claim text'),
  '0009-shared-runs': sharedRunMigration,
  '0010-processes': statements({ inlay_chat_processes: 'owner text primary key not null' }),
  '0011-retention': statements(
    'create index inlay_chat_sessions_updated on inlay_chat_sessions (updated_at)',
    'create index inlay_chat_sessions_deleted on inlay_chat_sessions (deleted_at) where deleted_at is not null',
  ),
  '0012-search': searchMigration,
  '0013-tool-grants': statements('alter table inlay_agent_tool add column is_for_all integer default 0 not null'),
  '0014-usage': statements(
    'alter table inlay_chat_messages add column input_tokens integer',
    'alter table inlay_chat_messages add column output_tokens integer',
    `create index inlay_chat_messages_answered on inlay_chat_messages (created_at) where role = 'assistant'`,
  ),
  // A column that earlier versions wrote. Nothing reads it.
  '0015-unsupported-numbers': statements('alter table inlay_chat_messages add column unsupported_numbers text'),
  '0016-pinned-sessions': statements(
    'alter table inlay_chat_sessions add column pinned_at bigint',
    'create index inlay_chat_sessions_pinned on inlay_chat_sessions (owner_id, pinned_at) where pinned_at is not null',
  ),
  '0017-lines': statements('alter table inlay_chat_messages add column lines text'),
  '0018-model-steps': statements('alter table inlay_chat_messages add column model_steps text'),
  '0019-holds': statements(holdTable),
}

/**
 * Brings the tables of conversations up to date, on SQLite or Postgres. Call it before they are used; safe at every start
 * and from several processes at once.
 */
export function migrateConversations(db: Kysely<unknown>, mode?: MigrationMode): Promise<readonly MigrationStep[]> {
  // Databases know these steps by the name of the package that had them first.
  return migrate(db, { name: 'agent', expand, contract: { '0017-lines': linesContraction } }, mode)
}
