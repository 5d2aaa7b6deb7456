import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type WireSchema } from '../fields.ts'
import type { PacketOf } from '../packets/packet-types.ts'
import { usageSchema } from '../packets/answer-packets.ts'
import { packetTable } from '../packets/packet-table.ts'
import type { Usage } from '../packets/packet-types.ts'
import { type GeneratedImage, generatedImageSchema, type SearchDoc, searchDocSchema } from '../packets/search-doc.ts'

/** One tool call in the complete answer. */
export interface ToolCallResponse {
  /** Name of the tool as the model sees it. */
  readonly tool_name: string
  /** Arguments from the model. */
  readonly tool_arguments: Readonly<Record<string, unknown>>
  /** Result returned to the model; "" when unknown. */
  readonly tool_result: string
  /** Documents shown with the call. */
  readonly search_docs: readonly SearchDoc[] | null
  /** Images created by the call. */
  readonly generated_images: readonly GeneratedImage[] | null
  /** The reasoning that led to the call. */
  readonly pre_reasoning: string | null
}

/** Maps a citation number in the answer to a document. */
export type CitationInfo = PacketOf<'citation_info'>

/** Answer of `POST /chat/send-chat-message` with `stream: false`: the fold of the lines of the same run. */
export interface ChatFullResponse {
  /** Text of the last model step with citation links; "" when the run failed before any text. */
  readonly answer: string
  /** The answer without citation links. */
  readonly answer_citationless: string
  /** Reasoning of the last step that has reasoning. */
  readonly pre_answer_reasoning: string | null
  /** Sorted by turn, then tab. */
  readonly tool_calls: readonly ToolCallResponse[]
  /** All documents found for the answer; [] if none. */
  readonly top_documents: readonly SearchDoc[]
  /** In order of first appearance. */
  readonly citation_info: readonly CitationInfo[]
  /** Id of the stored answer. */
  readonly message_id: number
  /** Session of the answer. */
  readonly chat_session_id: string | null
  /** Whether the session is incognito: nothing is stored. */
  readonly incognito: boolean
  /** Error message of a failed run; null on success. */
  readonly error_msg: string | null
  /** Present only if requested with `include_usage`. */
  readonly usage?: Usage
}

export const toolCallResponseSchema: WireSchema<ToolCallResponse> = model('ToolCallResponse', {
  tool_name: v.string(),
  tool_arguments: dictionary(v.unknown()),
  tool_result: v.string(),
  search_docs: orNull(v.array(searchDocSchema)),
  generated_images: orNull(v.array(generatedImageSchema)),
  pre_reasoning: orNull(v.string()),
})

export const chatFullResponseSchema: WireSchema<ChatFullResponse> = model('ChatFullResponse', {
  answer: v.string(),
  answer_citationless: v.string(),
  pre_answer_reasoning: orNull(v.string()),
  tool_calls: v.array(toolCallResponseSchema),
  top_documents: v.array(searchDocSchema),
  citation_info: v.array(packetTable.citation_info.schema),
  message_id: integer,
  chat_session_id: orNull(v.string()),
  incognito: v.optional(boolean, false),
  error_msg: orNull(v.string()),
  usage: v.optional(usageSchema),
})
