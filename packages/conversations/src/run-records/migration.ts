import { statements } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Runs that every process can read and stop. Their rows are removed some minutes after they end. */
export const sharedRunMigration: Migration = statements(
  {
    inlay_chat_runs: `
      message_id integer primary key, session_id text not null, run_id integer not null, owner text not null,
      opened_at bigint not null, seen_at bigint not null, is_finished integer not null,
      is_stopped integer not null`,
    inlay_chat_run_lines: `
      message_id integer not null, first integer not null, last integer not null, lines text not null,
      constraint inlay_chat_run_lines_pk primary key (message_id, first)`,
  },
  'create index inlay_chat_runs_session on inlay_chat_runs (session_id)',
  'create index inlay_chat_runs_age on inlay_chat_runs (is_finished, seen_at)',
)
