import { conversationPersonTables, type PersonTable } from '@inlay/conversations'

export const personTables: Readonly<Record<string, PersonTable>> = {
  ...conversationPersonTables,
  inlay_api_key: { column: 'owner' },
  inlay_workspace: { column: 'owner' },
  inlay_usage: { column: 'owner' },
  inlay_audit: { column: 'caller_id' },
}

/** Tables that say what processes do at this moment, or that are made from others: they are not exported. */
export const derivedTables: ReadonlySet<string> = new Set(
  `inlay_chat_processes inlay_chat_run_lines inlay_chat_runs inlay_chat_search inlay_chat_search_fill inlay_chat_send_keys
   inlay_claims inlay_counters inlay_dead_generations inlay_document_names inlay_figures inlay_file_holds
   inlay_index_spaces inlay_job_leases inlay_outbox inlay_pair_activity inlay_pair_counts inlay_processes
   inlay_reserved_tokens inlay_spaces inlay_waiting_documents`.split(/\s+/),
)
