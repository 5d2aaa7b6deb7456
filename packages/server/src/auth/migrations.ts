import type * as Records from '@inlay/records'
import type { AnyDatabase, MigrationMode, Migrations, MigrationStep } from '@inlay/records'

const expandWith = ({ holdTable, statements }: typeof Records): Migrations => ({
  '0001_api_key': statements({
    inlay_api_key: `
        id integer primary key, hash text not null unique, display text not null, name text, owner text not null,
        email text, scopes text not null, groups text not null, created_at bigint not null, last_used_at bigint,
        revoked_at bigint`,
  }),
  '0002_stream_format': statements('alter table inlay_api_key add column stream_format text'),
  '0003_workspace': statements({
    inlay_workspace: `
        kind text not null, owner text not null, id integer not null, value text not null,
        created_at bigint not null, updated_at bigint not null,
        constraint inlay_workspace_pk primary key (kind, owner, id)`,
  }),
  '0004_audit': statements({
    inlay_audit: `
        id text primary key, caller_id text, operation text not null, target text not null,
        status integer not null, request_id text not null`,
  }),
  '0005_limits': statements(
    'alter table inlay_api_key add column expires_at bigint',
    'alter table inlay_api_key add column limits text',
    {
      inlay_usage: `
        owner text not null, kind text not null, period bigint not null, amount bigint not null,
        constraint inlay_usage_pk primary key (owner, kind, period)`,
    },
  ),
  '0006_waiting_documents': statements({
    inlay_waiting_documents: `
        scope text not null, owner text not null, document_id text not null, added_at bigint not null,
        constraint inlay_waiting_documents_pk primary key (scope, owner, document_id)`,
  }),
  '0007_audit_filters': statements(
    'create index inlay_audit_caller_id on inlay_audit (caller_id, id)',
    'create index inlay_audit_operation on inlay_audit (operation, id)',
    'create index inlay_audit_caller_id_operation on inlay_audit (caller_id, operation, id)',
  ),
  '0008_reserved_tokens': statements({
    inlay_reserved_tokens: `
        owner text not null, kind text not null, id text not null, period bigint not null, amount bigint not null,
        holder text not null, lease_until bigint not null,
        constraint inlay_reserved_tokens_pk primary key (owner, kind, id)`,
  }),
  '0009_outbox': statements(
    {
      inlay_outbox: `
        id text primary key, event_id text not null, destination text not null, body text not null,
        created_at bigint not null, due_at bigint not null, attempts integer not null, claim text`,
    },
    'create index inlay_outbox_due on inlay_outbox (destination, due_at)',
  ),
  '0010_processes': statements({
    inlay_processes: 'owner text primary key not null, version text not null, seen_at bigint not null',
  }),
  '0011_holds': statements(holdTable),
})

/**
 * Creates and migrates the server's tables (API keys, settings made over the API, audit). Safe at every start, even of
 * several processes at once.
 */
export async function migrateServer(db: AnyDatabase, mode?: MigrationMode): Promise<readonly MigrationStep[]> {
  // Imported lazily, since a mounted server can answer public routes without a database engine.
  const records = await import('@inlay/records')
  return records.migrate(db, { name: 'server', expand: expandWith(records) }, mode)
}
