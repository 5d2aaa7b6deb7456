import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type Wire } from '../fields.ts'
import type { PacketOf } from '../packets/packet-types.ts'
import { usageSchema } from '../packets/answer-packets.ts'
import { packetTable } from '../packets/packet-table.ts'
import { generatedImageSchema, searchDocSchema } from '../packets/search-doc.ts'

/** Maps a citation number in the answer to a document. */
export type CitationInfo = PacketOf<'citation_info'>

export const toolCallResponseSchema = model('ToolCallResponse', {
  /** Name of the tool as the model sees it. */
  tool_name: v.string(),
  /** Arguments from the model. */
  tool_arguments: dictionary(v.unknown()),
  /** Result returned to the model; "" when unknown. */
  tool_result: v.string(),
  /** Documents shown with the call. */
  search_docs: orNull(v.array(searchDocSchema)),
  /** Images created by the call. */
  generated_images: orNull(v.array(generatedImageSchema)),
  /** The reasoning that led to the call. */
  pre_reasoning: orNull(v.string()),
})

/** One tool call in the complete answer. */
export type ToolCallResponse = Wire<typeof toolCallResponseSchema>

export const chatFullResponseSchema = model('ChatFullResponse', {
  /** Text of the last model step with citation links; "" when the run failed before any text. */
  answer: v.string(),
  /** The answer without citation links. */
  answer_citationless: v.string(),
  /** Reasoning of the last step that has reasoning. */
  pre_answer_reasoning: orNull(v.string()),
  /** Sorted by turn, then tab. */
  tool_calls: v.array(toolCallResponseSchema),
  /** All documents found for the answer; [] if none. */
  top_documents: v.array(searchDocSchema),
  /** In order of first appearance. */
  citation_info: v.array(packetTable.citation_info.schema),
  /** Id of the stored answer. */
  message_id: integer,
  /** Session of the answer. */
  chat_session_id: orNull(v.string()),
  /** Whether the session is incognito: nothing is stored. */
  incognito: v.optional(boolean, false),
  /** Error message of a failed run; null on success. */
  error_msg: orNull(v.string()),
  /** Present only if requested with `include_usage`. */
  usage: v.optional(usageSchema),
  /**
   * Calls that a person has to approve, present only if there are any: answer all of them by `tool_approvals` of a message
   * whose `parent_message_id` is the `message_id` above.
   */
  tool_approvals: v.optional(v.array(packetTable.tool_approval_request.schema)),
})

/** Answer of `POST /chat/send-chat-message` with `stream: false`: the fold of the lines of the same run. */
export type ChatFullResponse = Wire<typeof chatFullResponseSchema>
