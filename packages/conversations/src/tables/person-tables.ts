import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** How the rows of a table belong to people. */
export interface PersonTable {
  /** Holds the id of a person, or that of a row of `of`. */
  readonly column: string
  readonly of?: string
}

/** Tables of conversations with rows of people: those that refer to others stand before them. */
export const conversationPersonTables: Readonly<Record<string, PersonTable>> = {
  inlay_chat_tool_calls: { column: 'message_id', of: 'inlay_chat_messages' },
  inlay_chat_run_lines: { column: 'message_id', of: 'inlay_chat_messages' },
  inlay_chat_runs: { column: 'session_id', of: 'inlay_chat_sessions' },
  inlay_chat_summaries: { column: 'session_id', of: 'inlay_chat_sessions' },
  inlay_chat_search: { column: 'session_id', of: 'inlay_chat_sessions' },
  inlay_chat_messages: { column: 'session_id', of: 'inlay_chat_sessions' },
  inlay_chat_sessions: { column: 'owner_id' },
  inlay_chat_send_keys: { column: 'owner_id' },
  inlay_chat_feedback: { column: 'owner_id' },
  inlay_project_files: { column: 'project_id', of: 'inlay_projects' },
  inlay_projects: { column: 'owner_id' },
  inlay_file_texts: { column: 'id', of: 'inlay_files' },
  inlay_files: { column: 'owner_id' },
  inlay_personas: { column: 'owner_id' },
  inlay_memories: { column: 'owner_id' },
  inlay_personalizations: { column: 'owner_id' },
}

/** SQL condition: a row of a table is of a person. */
export function isOfPerson(
  { column, of }: PersonTable,
  person: string,
  tables: Readonly<Record<string, PersonTable>> = conversationPersonTables,
): RawBuilder<SqlBool> {
  if (of === undefined) return sql<SqlBool>`${sql.ref(column)} = ${person}`
  const owners = isOfPerson(tables[of]!, person, tables)
  return sql<SqlBool>`${sql.ref(column)} in (select id from ${sql.table(of)} where ${owners})`
}
