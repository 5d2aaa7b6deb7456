import { statements } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Tables for memories and personal settings. */
export const memoryMigration: Migration = statements(
  {
    inlay_memories: `
      id generated, owner_id text not null, content text not null, created_at bigint not null,
      updated_at bigint not null`,
    inlay_personalizations: `
      owner_id text primary key, name text not null, role text not null, preferences text not null,
      uses_memories integer not null, keeps_memories integer not null, updated_at bigint not null`,
  },
  'create index inlay_memories_owner on inlay_memories (owner_id, id)',
)
