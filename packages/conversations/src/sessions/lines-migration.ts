import { dialectOf } from '@inlay/records'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Answers keep the lines of their run. Before that, those of keyed sends were kept with their key, one for each delta. */
export const linesContraction: Migration = {
  // Until it was a step of its own, `0017-lines` did this, so the column may be gone.
  async up(db) {
    const isSqlite = dialectOf(db) === 'sqlite'
    if (!isSqlite) return void (await sql`alter table inlay_chat_send_keys drop column if exists lines`.execute(db))
    const columns = await sql`
      select 1 from pragma_table_info('inlay_chat_send_keys') where name = 'lines'`.execute(db)
    if (columns.rows.length > 0) await db.schema.alterTable('inlay_chat_send_keys').dropColumn('lines').execute()
  },
}
