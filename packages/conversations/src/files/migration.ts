import { statements } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Tables of files, agents and projects. */
export const libraryMigration: Migration = statements(
  {
    inlay_files: `
      id text primary key, file_id text not null unique, owner_id text not null, name text not null,
      media_type text not null, kind text not null, size_bytes bigint not null, status text not null,
      reason text, tokens integer, created_at bigint not null, used_at bigint, is_listed integer not null,
      is_indexed integer not null, work text, due_at bigint not null, attempts integer not null`,
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
  },
  'create index inlay_files_owner on inlay_files (owner_id, created_at)',
  'create index inlay_files_work on inlay_files (due_at) where work is not null',
  'create index inlay_project_files_file on inlay_project_files (id)',
  'create index inlay_projects_owner on inlay_projects (owner_id)',
  'create index inlay_chat_sessions_project on inlay_chat_sessions (project_id)',
)
