import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, type WireSchema } from '../fields.ts'
import type { PacketOf } from '../packets/packet-types.ts'
import { usageSchema } from '../packets/answer-packets.ts'
import { packetTable } from '../packets/packet-table.ts'
import type { Usage } from '../packets/packet-types.ts'
import { type GeneratedImage, generatedImageSchema, type SearchDoc, searchDocSchema } from '../packets/search-doc.ts'

/** One call of an action, as the whole answer tells it. */
export interface ToolCallResponse {
  /** The name the model sees. */
  readonly tool_name: string
  /** The arguments that the model gave. */
  readonly tool_arguments: Readonly<Record<string, unknown>>
  /** What the model was given back; "" when unknown. */
  readonly tool_result: string
  /** The documents shown with the call. */
  readonly search_docs: readonly SearchDoc[] | null
  /** The images that the call made. */
  readonly generated_images: readonly GeneratedImage[] | null
  /** The reasoning that led to the call. */
  readonly pre_reasoning: string | null
}

/** Which document a number in the answer names. */
export type CitationInfo = PacketOf<'citation_info'>

/** Answer of `POST /chat/send-chat-message` with `stream: false`: the fold of the lines of the same run. */
export interface ChatFullResponse {
  /** Text of the last model step, with its citation links; "" when the run failed before any text. */
  readonly answer: string
  /** The same without citation links. */
  readonly answer_citationless: string
  /** Reasoning of the last step that reasoned. */
  readonly pre_answer_reasoning: string | null
  /** By turn, then tab. */
  readonly tool_calls: readonly ToolCallResponse[]
  /** Every document gathered for the answer; [] when none. */
  readonly top_documents: readonly SearchDoc[]
  /** In the order of first appearance. */
  readonly citation_info: readonly CitationInfo[]
  /** Id of the stored answer. */
  readonly message_id: number
  /** The session of the answer. */
  readonly chat_session_id: string | null
  /** Whether the session leaves no trace. */
  readonly incognito: boolean
  /** Why the run failed; null when it did not. */
  readonly error_msg: string | null
  /** Only when the request asked for it. */
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
