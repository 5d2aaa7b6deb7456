import type { Migration } from 'kysely/migration'

/** Tables of files, agents and projects. */
export const libraryMigration: Migration = {
  async up(db) {
    const isSqlite = !db.getExecutor().adapter.supportsTransactionalDdl
    const numbered = (name: string) =>
      db.schema
        .createTable(name)
        .addColumn('id', 'integer', (column) =>
          isSqlite ? column.primaryKey().autoIncrement() : column.generatedByDefaultAsIdentity().primaryKey(),
        )
        .addColumn('owner_id', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
    await db.schema
      .createTable('inlay_files')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('file_id', 'text', (column) => column.notNull().unique())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('media_type', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('tokens', 'integer')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .addColumn('is_listed', 'integer', (column) => column.notNull())
      .addColumn('is_indexed', 'integer', (column) => column.notNull())
      .addColumn('work', 'text')
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('inlay_file_texts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('sections', 'text', (column) => column.notNull())
      .execute()
    await numbered('inlay_projects').addColumn('instructions', 'text').execute()
    await db.schema
      .createTable('inlay_project_files')
      .addColumn('project_id', 'integer', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('linked_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('inlay_project_files_pk', ['project_id', 'id'])
      .execute()
    await numbered('inlay_personas')
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .addColumn('owner_email', 'text')
      .addColumn('is_public', 'integer', (column) => column.notNull())
      .addColumn('settings', 'text', (column) => column.notNull())
      .execute()
    await addIndexes(db)
  },
}

async function addIndexes(db: Parameters<Migration['up']>[0]): Promise<void> {
  const index = (name: string, table: string, columns: string[]) =>
    db.schema.createIndex(name).on(table).columns(columns)
  await index('inlay_files_owner', 'inlay_files', ['owner_id', 'created_at']).execute()
  await index('inlay_files_work', 'inlay_files', ['due_at']).where('work', 'is not', null).execute()
  await index('inlay_project_files_file', 'inlay_project_files', ['id']).execute()
  await index('inlay_projects_owner', 'inlay_projects', ['owner_id']).execute()
  await index('inlay_chat_sessions_project', 'inlay_chat_sessions', ['project_id']).execute()
}

/** Names who works on a file, so that nobody else does. */
export const fileClaimMigration: Migration = {
  up: (db) => db.schema.alterTable('inlay_files').addColumn('claim', 'text').execute(),
}
