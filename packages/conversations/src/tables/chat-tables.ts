import type { AnswerStatus, MessageRole } from '@inlay/agent'
import type { BigInteger } from '@inlay/records'
import type { Generated } from 'kysely'

/** A conversation. Times are milliseconds since 1970 UTC; Postgres gives bigint columns as strings. */
export interface SessionTable {
  id: string
  owner_id: string
  /** Name shown in listings; "" until the session is named. */
  name: string
  persona_id: number
  project_id: number | null
  created_at: number
  updated_at: number
  /** 0 while the session is being erased. */
  deleted_at: number | null
  /** 1: anyone who knows the id may read it. */
  is_public: number
  /** JSON of the `llm_override` that the session was pinned to. */
  model_override: string | null
  temperature: number | null
  /** Model given by the client, from which `model_override` was derived. */
  alternate_model: string | null
  reasoning_effort: string | null
  /** When its owner pinned it. */
  pinned_at: number | null
}

/** One message of a session's tree. Big columns come last, so that walking the tree reads little. */
export interface MessageTable {
  id: Generated<number>
  session_id: string
  parent_id: number | null
  /** The child on the mainline. */
  latest_child_id: number | null
  role: MessageRole
  status: AnswerStatus
  created_at: number
  duration_ms: number | null
  origin: string | null
  feedback: string | null
  preferred_response_id: number | null
  error_code: string | null
  model_provider: string | null
  model_name: string | null
  model_display_name: string | null
  /** Tokens of the prompts and answers of its model calls; null when the provider did not count them. */
  input_tokens: number | null
  output_tokens: number | null
  error: string | null
  text: string
  reasoning: string | null
  /** JSON of the message's FileDescriptors. */
  files: string | null
  /** JSON array of `{number, documentId}` in order of appearance. */
  citations: string | null
  /** JSON array of the SearchDocs gathered, as in `message_start.final_documents`; null when nothing searched. */
  documents: string | null
  /** JSON of what the model was told besides the prompt. */
  request_params: string | null
  /**
   * The lines of a finished answer, see `recordedPackets`, without documents that are in `documents`; null while it runs,
   * or if there were too many.
   */
  lines: string | null
  /** What the model of an answer has to get back with later messages, as the agent wrote it; null when nothing. */
  model_steps: string | null
}

export interface ToolCallTable {
  id: Generated<number>
  message_id: number
  /** Which step of the answer asked for it, from 0: calls of one step ran in parallel. */
  step: number
  turn_index: number
  tab_index: number
  call_id: string
  action_id: number
  name: string
  failed: number
  /** JSON of the arguments. */
  arguments: string
  /** Result as passed to the model. */
  result: string
  /** Reasoning of the model before the call. */
  reasoning: string | null
  /** JSON of the packets of the call but its `section_end`, for replay; with lines, only those with files or requests. */
  packets: string | null
  documents: string | null
  images: string | null
  /** The research agent's call that made this one; null at the top. */
  parent_call_id: string | null
  /** The step of that agent; null at the top. */
  sub_turn_index: number | null
}

/** A send that must not happen twice. */
export interface SendKeyTable {
  owner_id: string
  key: string
  /** SHA-256 of the request, hexadecimal. */
  body_hash: string
  session_id: string
  message_id: number
  /** 1 when the send opened the session. */
  opened_session: number
  created_at: number
}

/** Feedback on an answer; clients see the newest row with a rating. */
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

/** Summary of a branch up to a message. */
export interface SummaryTable {
  /** The last message it covers. */
  message_id: number
  session_id: string
  text: string
  created_at: number
}

/** A run that every process can read and stop. */
export interface RunTable {
  /** The (first) answer. */
  message_id: number
  session_id: string
  run_id: number
  /** The process that makes it. */
  owner: string
  opened_at: BigInteger
  /** When its process was last heard of. */
  seen_at: BigInteger
  is_finished: number
  /** 1: somebody asked for its end. */
  is_stopped: number
}

export interface ProcessTable {
  owner: string
}

export interface RunLinesTable {
  message_id: number
  /** Number of the first line. */
  first: number
  last: number
  /** See `packLines`. */
  lines: string
}

/** Words of a message or of the name of a session, as search finds them. */
export interface SearchTable {
  id: Generated<number>
  session_id: string
  /** Null: the name of the session. */
  message_id: number | null
  /** Words with a space on both sides of each; on PostgreSQL an array. */
  words: string
}

/** How far older texts were added to the search. */
export interface SearchFillTable {
  kind: string
  below: BigInteger
}
