import * as v from 'valibot'
import { boolean, integer, model, orNull, type Wire } from '../fields.ts'
import { packetFamily, suchAs, type PacketFieldsOf } from './packet-entry.ts'
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
  /** Closes a tool call, a research plan or the report of a research agent. */
  section_end: {},
  /**
   * Ends a run that succeeded (`stop_reason` null) or was stopped (`user_cancelled`). Contains `usage` only if
   * requested with `include_usage`.
   */
  stop: {
    /** Null on success, `user_cancelled` when the user stopped the run. */
    stop_reason: suchAs(orNull(v.string()), null),
    /** Token usage of the run. */
    usage: v.optional(usageSchema),
  },
  /** Announces that a step requested several tool calls or research agents, before the first of them starts. */
  top_level_branching: {
    /** Number of parallel branches. */
    num_parallel_branches: suchAs(integer, 2),
  },
  /**
   * Reports a failure. At the placement of a tool call or research agent the run continues; in a failed run it precedes
   * the error line.
   */
  error: {
    /** Error message, safe to show to users. */
    exception: suchAs(v.optional(v.string(), ''), 'The image model did not answer.'),
    /** Error code. */
    error_code: suchAs(orNull(v.string()), 'SERVICE_UNAVAILABLE'),
    /** Whether retrying the same request may succeed. */
    is_retryable: suchAs(v.optional(boolean, true), true),
  },
  /** Keeps the connection open after 15 s of silence; has no number. */
  chat_heartbeat: {},
  /** Starts the text of a model step, with all documents found so far and the seconds since the run started. */
  message_start: {
    /** All documents found so far. */
    final_documents: suchAs(orNull(v.array(searchDocSchema)), [exampleDoc]),
    /** Seconds since the run began. */
    pre_answer_processing_seconds: suchAs(orNull(v.number()), 1.25),
  },
  /** Text to append to the answer. */
  message_delta: {
    /** The text. */
    content: suchAs(v.string(), 'Badges open the lab '),
  },
  /** Maps a citation number to a document; sent once per document, just before the text that contains the link. */
  citation_info: {
    /** Citation number in the answer. */
    citation_number: suchAs(integer, 1),
    /** Id of the cited document. */
    document_id: suchAs(v.string(), 'handbook/lab-access'),
  },
  /** Begins the reasoning of a step. */
  reasoning_start: {},
  /** Text to append to the reasoning. */
  reasoning_delta: {
    /** The text. */
    reasoning: suchAs(v.string(), 'The question is about opening hours.'),
  },
  /** Ends the reasoning of a step. */
  reasoning_done: {},
})

/** Control, text, citations and reasoning of an answer: the fields of each packet type besides `type`. */
export type AnswerPackets = PacketFieldsOf<typeof answerPackets>
