import type { Generated } from 'kysely'

/** What somebody thought of an answer; the newest row with a verdict is the one clients see. */
export interface FeedbackTable {
  id: Generated<number>
  message_id: number
  owner_id: string
  /** 1, 0, or null for a text alone. */
  is_positive: number | null
  text: string | null
  predefined: string | null
  created_at: number
}

/** What was said up to a message of a branch, in short. */
export interface SummaryTable {
  /** The last message it covers. */
  message_id: number
  session_id: string
  text: string
  created_at: number
}

/** Tables beside sessions and messages. */
// A type, not an interface: Kysely wants it to have an index signature.
export type SessionTables = {
  inlay_chat_feedback: FeedbackTable
  inlay_chat_summaries: SummaryTable
}
