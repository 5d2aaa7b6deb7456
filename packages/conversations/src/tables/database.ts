import type { Kysely } from 'kysely'
import type {
  FeedbackTable,
  MessageTable,
  ProcessTable,
  RunLinesTable,
  RunTable,
  SearchFillTable,
  SearchTable,
  SendKeyTable,
  SessionTable,
  SummaryTable,
  ToolCallTable,
} from './chat-tables.ts'
import type {
  FileTable,
  FileTextTable,
  MemoryTable,
  PersonalizationTable,
  PersonaTable,
  ProjectFileTable,
  ProjectTable,
} from './library-tables.ts'
import type { ActionOffTable, StoredToolTable, ToolNumberTable } from './tool-tables.ts'

// A type, not an interface: Kysely wants it to have an index signature.
export type ConversationTables = {
  inlay_chat_sessions: SessionTable
  inlay_chat_messages: MessageTable
  inlay_chat_tool_calls: ToolCallTable
  inlay_chat_send_keys: SendKeyTable
  inlay_chat_runs: RunTable
  inlay_chat_run_lines: RunLinesTable
  inlay_chat_processes: ProcessTable
  inlay_chat_feedback: FeedbackTable
  inlay_chat_summaries: SummaryTable
  inlay_chat_search: SearchTable
  inlay_chat_search_fill: SearchFillTable
  inlay_files: FileTable
  inlay_file_texts: FileTextTable
  inlay_projects: ProjectTable
  inlay_project_files: ProjectFileTable
  inlay_personas: PersonaTable
  inlay_memories: MemoryTable
  inlay_personalizations: PersonalizationTable
  inlay_agent_tool_number: ToolNumberTable
  inlay_agent_tool: StoredToolTable
  inlay_agent_action_off: ActionOffTable
}

export type ConversationDatabase = Kysely<ConversationTables>

/** Whether a number can be the id of a row: databases refuse to look for others. */
export function isRowId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id < 2 ** 31
}

export const idsOf = <Id>(rows: readonly { readonly id: Id }[]): Id[] => rows.map(({ id }) => id)
