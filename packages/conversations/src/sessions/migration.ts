import { statements } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Session settings, feedback on answers, and summaries of long conversations. */
export const sessionMigration: Migration = statements(
  'alter table inlay_chat_sessions add column alternate_model text',
  'alter table inlay_chat_sessions add column reasoning_effort text',
  'alter table inlay_chat_messages add column request_params text',
  {
    inlay_chat_feedback: `
      id generated, message_id integer not null, owner_id text not null, is_positive integer, text text,
      predefined text, created_at bigint not null`,
    inlay_chat_summaries: `
      message_id integer primary key, session_id text not null, text text not null, created_at bigint not null`,
  },
  'create index inlay_chat_feedback_message on inlay_chat_feedback (message_id)',
  'create index inlay_chat_summaries_session on inlay_chat_summaries (session_id)',
)
