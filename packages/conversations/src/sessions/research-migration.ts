import type { Migration } from 'kysely/migration'

/** Which calls belong to a research agent, and to which of its steps. */
export const researchMigration: Migration = {
  async up(db) {
    // SQLite adds one column a statement.
    const calls = () => db.schema.alterTable('inlay_chat_tool_calls')
    await calls().addColumn('parent_call_id', 'text').execute()
    await calls().addColumn('sub_turn_index', 'integer').execute()
  },
}
