import {
  dialectOf,
  holdTable,
  migrate,
  statements,
  type MigrationMode,
  type Migrations,
  type MigrationStep,
} from '@inlay/records'
import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { linesContraction } from './sessions/lines-migration.ts'
import { searchMigration } from './sessions/search-migration.ts'

const first: Migration = {
  async up(db) {
    await statements(
      {
        inlay_chat_sessions: `
          id text primary key, owner_id text not null, name text not null, persona_id integer not null,
          project_id integer, created_at bigint not null, updated_at bigint not null, deleted_at bigint,
          is_public integer not null, model_override text, temperature double precision, alternate_model text,
          reasoning_effort text`,
        inlay_chat_messages: `
          id generated, session_id text not null, parent_id integer, latest_child_id integer, role text not null,
          status text not null, created_at bigint not null, seen_at bigint, duration_ms bigint, origin text,
          feedback text, preferred_response_id integer, error_code text, model_provider text, model_name text,
          model_display_name text, error text, text text not null, reasoning text, files text, citations text,
          documents text, request_params text`,
        inlay_chat_tool_calls: `
          id generated, message_id integer not null, step integer not null, turn_index integer not null,
          tab_index integer not null, call_id text not null, action_id integer not null, name text not null,
          failed integer not null, arguments text not null, result text not null, reasoning text, packets text,
          documents text, images text, parent_call_id text, sub_turn_index integer`,
        inlay_chat_send_keys: `
          owner_id text not null, key text not null, body_hash text not null, session_id text not null,
          message_id integer not null, opened_session integer not null, created_at bigint not null, lines text,
          constraint inlay_chat_send_keys_pk primary key (owner_id, key)`,
        inlay_chat_feedback: `
          id generated, message_id integer not null, owner_id text not null, is_positive integer, text text,
          predefined text, created_at bigint not null`,
        inlay_chat_summaries: `
          message_id integer primary key, session_id text not null, text text not null, created_at bigint not null`,
        inlay_chat_runs: `
          message_id integer primary key, session_id text not null, run_id integer not null, owner text not null,
          opened_at bigint not null, seen_at bigint not null, is_finished integer not null,
          is_stopped integer not null`,
        inlay_chat_run_lines: `
          message_id integer not null, first integer not null, last integer not null, lines text not null,
          constraint inlay_chat_run_lines_pk primary key (message_id, first)`,
        inlay_files: `
          id text primary key, file_id text not null unique, owner_id text not null, name text not null,
          media_type text not null, kind text not null, size_bytes bigint not null, status text not null,
          reason text, tokens integer, created_at bigint not null, used_at bigint, is_listed integer not null,
          is_indexed integer not null, work text, due_at bigint not null, attempts integer not null, claim text`,
        inlay_file_texts: 'id text primary key, sections text not null',
        inlay_projects: `
          id generated, owner_id text not null, name text not null, description text not null,
          created_at bigint not null, instructions text`,
        inlay_project_files: `
          project_id integer not null, id text not null, linked_at bigint not null,
          constraint inlay_project_files_pk primary key (project_id, id)`,
        inlay_personas: `
          id generated, owner_id text not null, name text not null, description text not null,
          created_at bigint not null, updated_at bigint not null, deleted_at bigint, owner_email text,
          is_public integer not null, settings text not null`,
        inlay_memories: `
          id generated, owner_id text not null, content text not null, created_at bigint not null,
          updated_at bigint not null`,
        inlay_personalizations: `
          owner_id text primary key, name text not null, role text not null, preferences text not null,
          uses_memories integer not null, keeps_memories integer not null, updated_at bigint not null`,
        inlay_agent_tool_number: `
          id generated, kind text not null, name text not null,
          constraint inlay_agent_tool_number_name unique (kind, name)`,
        inlay_agent_tool: `
          id integer primary key, name text not null, description text not null, definition text not null,
          custom_headers text not null, passes_auth integer not null, owner_id text not null,
          is_enabled integer not null, updated_at bigint not null`,
        inlay_agent_action_off: 'id integer primary key',
      },
      'create index inlay_chat_sessions_owner on inlay_chat_sessions (owner_id, updated_at)',
      'create index inlay_chat_sessions_project on inlay_chat_sessions (project_id)',
      'create index inlay_chat_messages_session on inlay_chat_messages (session_id, id)',
      `create index inlay_chat_messages_running on inlay_chat_messages (seen_at) where status = 'running'`,
      'create index inlay_chat_tool_calls_message on inlay_chat_tool_calls (message_id, id)',
      'create index inlay_chat_send_keys_age on inlay_chat_send_keys (created_at)',
      'create index inlay_chat_feedback_message on inlay_chat_feedback (message_id)',
      'create index inlay_chat_summaries_session on inlay_chat_summaries (session_id)',
      'create index inlay_chat_runs_session on inlay_chat_runs (session_id)',
      'create index inlay_chat_runs_age on inlay_chat_runs (is_finished, seen_at)',
      'create index inlay_files_owner on inlay_files (owner_id, created_at)',
      'create index inlay_files_work on inlay_files (due_at) where work is not null',
      'create index inlay_project_files_file on inlay_project_files (id)',
      'create index inlay_projects_owner on inlay_projects (owner_id)',
      'create index inlay_memories_owner on inlay_memories (owner_id, id)',
      // Lower ids belong to built-in actions. SQLite continues from the highest id ever used.
      `insert into inlay_agent_tool_number (id, kind, name) values (1000, 'reserved', '')`,
    ).up(db)
    if (dialectOf(db) === 'postgres')
      await sql`alter table inlay_agent_tool_number alter column id restart with 1001`.execute(db)
  },
}

const expand: Migrations = {
  '0001-conversations': first,
  '0010-processes': statements({ inlay_chat_processes: 'owner text not null primary key' }),
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
