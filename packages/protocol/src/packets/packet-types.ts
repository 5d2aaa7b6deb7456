import type { GeneratedImage, SearchDoc } from './search-doc.ts'

/** Where a packet belongs in its answer. */
export interface Placement {
  /** Position of the block within the answer, from 0; never falls within one branch, may skip values. */
  readonly turn_index: number
  /** Tells parallel calls (or research agents) of one turn apart. */
  readonly tab_index: number
  /** Counts steps nested inside a research or coding agent; null at the top level. */
  readonly sub_turn_index: number | null
  /** Which model speaks when several answer side by side; null on heartbeats, cancel stops and replayed packets. */
  readonly model_index: number | null
}

/** What the model consumed, all calls of the run together; null where the provider does not tell. */
export interface Usage {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  /** Part of the output that was reasoning. */
  readonly reasoning_tokens: number | null
  /** Part of the input that came from the provider's cache. */
  readonly cached_input_tokens: number | null
}

/** How a custom action failed for lack of valid credentials. */
export interface CustomToolError {
  readonly is_auth_error: boolean
  /** HTTP status the action answered with. */
  readonly status_code: number
  readonly message: string
}

type NoFields = Readonly<Record<never, never>>
type Documents = readonly SearchDoc[]

/** The fields of every packet type besides `type`. The table of the schemas is checked against it. */
export interface PacketFields {
  readonly section_end: NoFields
  readonly stop: { readonly stop_reason: string | null; readonly usage?: Usage }
  readonly top_level_branching: { readonly num_parallel_branches: number }
  readonly error: { readonly exception: string; readonly error_code: string | null; readonly is_retryable: boolean }
  readonly chat_heartbeat: NoFields

  readonly message_start: {
    readonly final_documents: Documents | null
    readonly pre_answer_processing_seconds: number | null
  }
  readonly message_delta: { readonly content: string }
  readonly citation_info: { readonly citation_number: number; readonly document_id: string }

  readonly reasoning_start: NoFields
  readonly reasoning_delta: { readonly reasoning: string }
  readonly reasoning_done: NoFields

  readonly search_tool_start: { readonly is_internet_search: boolean }
  readonly search_tool_queries_delta: { readonly queries: readonly string[] }
  readonly search_tool_filter_delta: {
    readonly sources: readonly string[]
    readonly time_filter_start: string | null
    readonly time_filter_end: string | null
  }
  readonly search_tool_documents_delta: { readonly documents: Documents }

  readonly open_url_start: NoFields
  readonly open_url_urls: { readonly urls: readonly string[] }
  readonly open_url_documents: { readonly documents: Documents }

  readonly image_generation_start: NoFields
  readonly image_generation_heartbeat: NoFields
  readonly image_generation_final: { readonly images: readonly GeneratedImage[] }

  readonly python_tool_start: { readonly code: string }
  readonly python_tool_delta: {
    readonly stdout: string
    readonly stderr: string
    readonly file_ids: readonly string[]
  }
  readonly bash_tool_start: { readonly cmd: string }
  readonly bash_tool_delta: {
    readonly stdout: string
    readonly stderr: string
    readonly exit_code: number | null
    readonly timed_out: boolean
  }

  readonly custom_tool_start: { readonly tool_name: string; readonly tool_id: number | null }
  readonly custom_tool_args: { readonly tool_name: string; readonly tool_args: Readonly<Record<string, unknown>> }
  readonly custom_tool_delta: {
    readonly tool_name: string
    readonly tool_id: number | null
    readonly response_type: string
    /** Any JSON value. */
    readonly data: unknown
    readonly file_ids: readonly string[] | null
    readonly error: CustomToolError | null
  }

  readonly file_reader_start: NoFields
  readonly file_reader_result: {
    readonly file_name: string
    readonly file_id: string
    readonly start_char: number
    readonly end_char: number
    readonly total_chars: number
    readonly preview_start: string
    readonly preview_end: string
  }
  readonly memory_tool_start: NoFields
  readonly memory_tool_delta: {
    readonly memory_text: string
    readonly operation: 'add' | 'update'
    readonly memory_id: number | null
    readonly index: number | null
  }
  readonly memory_tool_no_access: NoFields
  readonly tool_call_argument_delta: {
    readonly tool_type: string
    readonly argument_deltas: Readonly<Record<string, unknown>>
  }
  readonly tool_call_debug: {
    readonly tool_call_id: string
    readonly tool_name: string
    readonly tool_args: Readonly<Record<string, unknown>>
  }

  readonly deep_research_plan_start: NoFields
  readonly deep_research_plan_delta: { readonly content: string }
  readonly research_agent_start: { readonly research_task: string }
  readonly intermediate_report_start: NoFields
  readonly intermediate_report_delta: { readonly content: string }
  readonly intermediate_report_cited_docs: { readonly cited_docs: Documents | null }

  readonly coding_agent_start: { readonly query: string; readonly repo: string }
  readonly coding_agent_thinking_delta: { readonly content: string }
  readonly coding_agent_final: { readonly answer: string }
}

/** The 44 values of a packet's `type`. */
export type PacketType = keyof PacketFields

/** The body (`obj`) of one packet type. */
export type PacketOf<Type extends PacketType> = { readonly type: Type } & PacketFields[Type]

/** Any packet body, told apart by `type`. */
export type PacketBody = { [Type in PacketType]: PacketOf<Type> }[PacketType]

/** One packet of the stream. */
export interface Packet {
  readonly placement: Placement
  readonly obj: PacketBody
}
