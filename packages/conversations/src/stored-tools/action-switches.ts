import type { Kysely } from 'kysely'
import type { ConversationTables } from '../tables/database.ts'

/** Which actions an administrator switched off, whatever their kind. */
export interface ActionSwitches {
  /** Ids of those that are off. */
  off(): Promise<ReadonlySet<number>>
  /** Repeating does no harm. */
  set(ids: readonly number[], isEnabled: boolean): Promise<void>
}

/** Makes the switches, over the database that `migrateConversations` brought up to date. */
export function createActionSwitches(db: Kysely<unknown>): ActionSwitches {
  const tables = db.withTables<ConversationTables>()
  return {
    off: async () => {
      const rows = await tables.selectFrom('inlay_agent_action_off').select('id').execute()
      return new Set(rows.map(({ id }) => id))
    },
    set: async (ids, isEnabled) => {
      if (ids.length === 0) return
      if (isEnabled) await tables.deleteFrom('inlay_agent_action_off').where('id', 'in', ids).execute()
      else {
        const rows = ids.map((id) => ({ id }))
        const insert = tables.insertInto('inlay_agent_action_off').values(rows)
        await insert.onConflict((conflict) => conflict.column('id').doNothing()).execute()
      }
    },
  }
}
