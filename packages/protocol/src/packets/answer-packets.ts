import * as v from 'valibot'
import { boolean, integer, model, orNull, type Wire } from '../fields.ts'
import { packetFamily, type PacketFieldsOf } from './packet-entry.ts'
import { exampleDoc, searchDocSchema } from './search-doc.ts'

export const usageSchema = model('Usage', {
  /** Tokens of all prompts. */
  input_tokens: orNull(integer),
  /** Tokens of all answers, including reasoning. */
  output_tokens: orNull(integer),
  /** Output tokens used for reasoning. */
  reasoning_tokens: orNull(integer),
  /** Input tokens read from the provider's cache. */
  cached_input_tokens: orNull(integer),
})

/** Token usage of all model calls of the run; null where the provider does not report it. */
export type Usage = Wire<typeof usageSchema>

export const answerPackets = packetFamily({
  section_end: {
    sentence: 'Closes a tool call, a research plan or the report of a research agent.',
    fields: {},
    example: {},
  },
  stop: {
    sentence:
      'Ends a run that succeeded (`stop_reason` null) or was stopped (`user_cancelled`). Contains `usage` only if requested with `include_usage`.',
    fields: {
      /** Null on success, `user_cancelled` when the user stopped the run. */
      stop_reason: orNull(v.string()),
      /** Token usage of the run. */
      usage: v.optional(usageSchema),
    },
    example: { stop_reason: null },
  },
  top_level_branching: {
    sentence: 'Announces that a step requested several tool calls or research agents, before the first of them starts.',
    fields: {
      /** Number of parallel branches. */
      num_parallel_branches: integer,
    },
    example: { num_parallel_branches: 2 },
  },
  error: {
    sentence:
      'Reports a failure. At the placement of a tool call or research agent the run continues; in a failed run it precedes the error line.',
    fields: {
      /** Error message, safe to show to users. */
      exception: v.optional(v.string(), ''),
      /** Error code. */
      error_code: orNull(v.string()),
      /** Whether retrying the same request may succeed. */
      is_retryable: v.optional(boolean, true),
    },
    example: { exception: 'The image model did not answer.', error_code: 'SERVICE_UNAVAILABLE', is_retryable: true },
  },
  chat_heartbeat: {
    sentence: 'Keeps the connection open after 15 s of silence; has no number.',
    fields: {},
    example: {},
  },
  message_start: {
    sentence: 'Starts the text of a model step, with all documents found so far and the seconds since the run started.',
    fields: {
      /** All documents found so far. */
      final_documents: orNull(v.array(searchDocSchema)),
      /** Seconds since the run began. */
      pre_answer_processing_seconds: orNull(v.number()),
    },
    example: { final_documents: [exampleDoc], pre_answer_processing_seconds: 1.25 },
  },
  message_delta: {
    sentence: 'Text to append to the answer.',
    fields: {
      /** The text. */
      content: v.string(),
    },
    example: { content: 'Badges open the lab ' },
  },
  citation_info: {
    sentence:
      'Maps a citation number to a document; sent once per document, just before the text that contains the link.',
    fields: {
      /** Citation number in the answer. */
      citation_number: integer,
      /** Id of the cited document. */
      document_id: v.string(),
    },
    example: { citation_number: 1, document_id: 'handbook/lab-access' },
  },
  reasoning_start: { sentence: 'Begins the reasoning of a step.', fields: {}, example: {} },
  reasoning_delta: {
    sentence: 'Text to append to the reasoning.',
    fields: {
      /** The text. */
      reasoning: v.string(),
    },
    example: { reasoning: 'The question is about opening hours.' },
  },
  reasoning_done: { sentence: 'Ends the reasoning of a step.', fields: {}, example: {} },
})

/** Control, text, citations and reasoning of an answer: the fields of each packet type besides `type`. */
export type AnswerPackets = PacketFieldsOf<typeof answerPackets>
