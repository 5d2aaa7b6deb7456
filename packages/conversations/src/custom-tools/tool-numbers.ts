import type { ToolNumbers } from '@inlay/agent'
import type { Kysely } from 'kysely'
import type { ConversationTables } from '../tables/database.ts'

/** Whether a number can be one of a tool: lower ones belong to built-in actions. */
export function isToolNumber(id: number): boolean {
  return Number.isInteger(id) && id > 1_000 && id < 2 ** 31
}

/**
 * Creates permanent numbers for tools. Run `migrateConversations` on the database first.
 * @example
 * const id = await createToolNumbers(db).numberOf('weather-station', 'north')
 */
export function createToolNumbers(db: Kysely<unknown>): ToolNumbers {
  const tables = db.withTables<ConversationTables>()
  const known = new Map<string, number>()
  const find = async (kind: string, name: string): Promise<number | undefined> => {
    const row = await tables
      .selectFrom('inlay_agent_tool_number')
      .select('id')
      .where('kind', '=', kind)
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.id
  }
  const make = async (kind: string, name: string): Promise<number> => {
    const row = await tables
      .insertInto('inlay_agent_tool_number')
      .values({ kind, name })
      .onConflict((conflict) => conflict.columns(['kind', 'name']).doNothing())
      .returning('id')
      .executeTakeFirst()
    // No row is returned if another process was faster.
    const id = row?.id ?? (await find(kind, name))
    if (id === undefined) throw new Error('A number of a tool was neither made nor found.')
    return id
  }
  return {
    numberOf: async (kind, name) => {
      const key = `${kind} ${name}`
      const id = known.get(key) ?? (await find(kind, name)) ?? (await make(kind, name))
      known.set(key, id)
      return id
    },
    find: async (id) => {
      if (!isToolNumber(id)) return undefined
      return tables
        .selectFrom('inlay_agent_tool_number')
        .select(['kind', 'name'])
        .where('id', '=', id)
        .executeTakeFirst()
    },
  }
}
