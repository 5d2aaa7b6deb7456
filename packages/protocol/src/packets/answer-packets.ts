import * as v from 'valibot'
import { boolean, integer, model, orNull, type WireSchema } from '../fields.ts'
import { entriesOf, type NoFields, type PacketFamily } from './packet-entry.ts'
import { exampleDoc, searchDocSchema, type SearchDoc } from './search-doc.ts'

/** Token usage of all model calls of the run; null where the provider does not report it. */
export interface Usage {
  /** Tokens of all prompts. */
  readonly input_tokens: number | null
  /** Tokens of all answers, including reasoning. */
  readonly output_tokens: number | null
  /** Output tokens used for reasoning. */
  readonly reasoning_tokens: number | null
  /** Input tokens read from the provider's cache. */
  readonly cached_input_tokens: number | null
}

export const usageSchema: WireSchema<Usage> = model('Usage', {
  input_tokens: orNull(integer),
  output_tokens: orNull(integer),
  reasoning_tokens: orNull(integer),
  cached_input_tokens: orNull(integer),
})

/** Control, text, citations and reasoning of an answer: the fields of each packet type besides `type`. */
export interface AnswerPackets {
  readonly section_end: NoFields
  readonly stop: {
    /** Null on success, `user_cancelled` when the user stopped the run. */
    readonly stop_reason: string | null
    /** Token usage of the run. */
    readonly usage?: Usage
  }
  readonly top_level_branching: {
    /** Number of parallel branches. */
    readonly num_parallel_branches: number
  }
  readonly error: {
    /** Error message, safe to show to users. */
    readonly exception: string
    /** Error code. */
    readonly error_code: string | null
    /** Whether retrying the same request may succeed. */
    readonly is_retryable: boolean
  }
  readonly chat_heartbeat: NoFields
  readonly message_start: {
    /** All documents found so far. */
    readonly final_documents: readonly SearchDoc[] | null
    /** Seconds since the run began. */
    readonly pre_answer_processing_seconds: number | null
  }
  readonly message_delta: {
    /** The text. */
    readonly content: string
  }
  readonly citation_info: {
    /** Citation number in the answer. */
    readonly citation_number: number
    /** Id of the cited document. */
    readonly document_id: string
  }
  readonly reasoning_start: NoFields
  readonly reasoning_delta: {
    /** The text. */
    readonly reasoning: string
  }
  readonly reasoning_done: NoFields
}

const entry = entriesOf<AnswerPackets>()

/** Control, text, citations and reasoning of an answer: schema, example and sentence of each packet type. */
export const answerPackets: PacketFamily<AnswerPackets> = {
  section_end: entry('section_end', {}, {}, 'Closes a tool call, a research plan or the report of a research agent.'),
  stop: entry(
    'stop',
    { stop_reason: orNull(v.string()), usage: v.optional(usageSchema) },
    { stop_reason: null },
    'Ends a run that succeeded (`stop_reason` null) or was stopped (`user_cancelled`). Contains `usage` only if requested with `include_usage`.',
  ),
  top_level_branching: entry(
    'top_level_branching',
    { num_parallel_branches: integer },
    { num_parallel_branches: 2 },
    'Announces that a step requested several tool calls or research agents, before the first of them starts.',
  ),
  error: entry(
    'error',
    {
      exception: v.optional(v.string(), ''),
      error_code: orNull(v.string()),
      is_retryable: v.optional(boolean, true),
    },
    { exception: 'The image model did not answer.', error_code: 'SERVICE_UNAVAILABLE', is_retryable: true },
    'Reports a failure. At the placement of a tool call or research agent the run continues; in a failed run it precedes the error line.',
  ),
  chat_heartbeat: entry('chat_heartbeat', {}, {}, 'Keeps the connection open after 15 s of silence; has no number.'),
  message_start: entry(
    'message_start',
    { final_documents: orNull(v.array(searchDocSchema)), pre_answer_processing_seconds: orNull(v.number()) },
    { final_documents: [exampleDoc], pre_answer_processing_seconds: 1.25 },
    'Starts the text of a model step, with all documents found so far and the seconds since the run started.',
  ),
  message_delta: entry(
    'message_delta',
    { content: v.string() },
    { content: 'Badges open the lab ' },
    'Text to append to the answer.',
  ),
  citation_info: entry(
    'citation_info',
    { citation_number: integer, document_id: v.string() },
    { citation_number: 1, document_id: 'handbook/lab-access' },
    'Maps a citation number to a document; sent once per document, just before the text that contains the link.',
  ),
  reasoning_start: entry('reasoning_start', {}, {}, 'Begins the reasoning of a step.'),
  reasoning_delta: entry(
    'reasoning_delta',
    { reasoning: v.string() },
    { reasoning: 'The question is about opening hours.' },
    'Text to append to the reasoning.',
  ),
  reasoning_done: entry('reasoning_done', {}, {}, 'Ends the reasoning of a step.'),
}
