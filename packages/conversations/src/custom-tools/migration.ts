import { createTables, dialectOf } from '@inlay/records'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Ids of custom tools, and tools described by OpenAPI documents. */
export const storedToolMigration: Migration = {
  async up(db) {
    await createTables(db, {
      inlay_agent_tool_number: `
        id generated, kind text not null, name text not null,
        constraint inlay_agent_tool_number_name unique (kind, name)`,
    })
    // Lower ids belong to built-in actions. SQLite continues from the highest id ever used.
    await sql`insert into inlay_agent_tool_number (id, kind, name) values (1000, 'reserved', '')`.execute(db)
    if (dialectOf(db) === 'postgres')
      await sql`alter table inlay_agent_tool_number alter column id restart with 1001`.execute(db)
    await createTables(db, {
      inlay_agent_tool: `
        id integer primary key, name text not null, description text not null, definition text not null,
        custom_headers text not null, passes_auth integer not null, owner_id text not null,
        is_enabled integer not null, updated_at bigint not null`,
    })
  },
}
