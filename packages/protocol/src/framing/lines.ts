import * as v from 'valibot'
import { boolean, dictionary, integer, model, named, orNull, type Wire, type WireSchema } from '../fields.ts'
import type { Packet } from '../packets/packet-types.ts'
import { packetSchema } from '../packets/packet-table.ts'

/** A line unknown to this version: from a newer server, or malformed. */
export interface UnknownLine {
  readonly unknown: unknown
}

export type StreamLine = SessionLine | MessageIdLine | MultiModelLine | Packet | ErrorLine | UnknownLine

export type LineKind = 'session' | 'message_id' | 'multi_model' | 'packet' | 'error' | 'unknown'

export function lineKind(line: StreamLine): LineKind {
  if ('obj' in line) return 'packet'
  if ('chat_session_id' in line) return 'session'
  if ('reserved_assistant_message_id' in line) return 'message_id'
  if ('responses' in line) return 'multi_model'
  if ('error' in line) return 'error'
  return 'unknown'
}

export function isPacket(line: StreamLine): line is Packet {
  return 'obj' in line
}

/** Whether a line is the error line that ends a failed run. */
export function isErrorLine(line: StreamLine): line is ErrorLine {
  return 'error' in line
}

export const sessionLineSchema = model('SessionLine', {
  /** Id of the new session. */
  chat_session_id: v.string(),
  /** Whether the session is incognito: nothing is stored. */
  incognito: v.optional(boolean, false),
})

/** First line of a run whose request created a new session. */
export type SessionLine = Wire<typeof sessionLineSchema>

export const messageIdLineSchema = model('MessageIdLine', {
  /** Id of the stored question; for a regeneration, the existing question. */
  user_message_id: orNull(integer),
  /** Id under which the answer is or will be stored. */
  reserved_assistant_message_id: integer,
})

/** Ids of the stored messages of a run; sent once, before any packet. */
export type MessageIdLine = Wire<typeof messageIdLineSchema>

/** The stored answer of one model. */
const modelAnswerSchema = model('ModelAnswer', {
  /** Id under which the answer will be stored. */
  message_id: integer,
  /** Name of the model that answers. */
  model_name: v.string(),
})

export const multiModelLineSchema = model('MultiModelLine', {
  /** Id of the stored question. */
  user_message_id: orNull(integer),
  /** Answers in the order of `placement.model_index`. */
  responses: v.array(modelAnswerSchema),
})

/** Replaces the message-id line when several models answer; positions in `responses` match `placement.model_index`. */
export type MultiModelLine = Wire<typeof multiModelLineSchema>

/** Schema of {@link ErrorLine}; also takes the bare `{error}` of a crashed server. */
export const errorLineSchema = model('ErrorLine', {
  /** Error message, safe to show to users. */
  error: v.string(),
  /** Always null here; other servers may fill it. */
  stack_trace: orNull(v.string()),
  /** Code of the failure. */
  error_code: orNull(v.string()),
  /** Whether retrying the same request may succeed. */
  is_retryable: v.optional(boolean, true),
  /** Details of a model failure: model, provider, model_index. */
  details: orNull(dictionary(v.unknown())),
})

/** Last line of a failed run; no `stop` packet follows. */
export type ErrorLine = Wire<typeof errorLineSchema>

/** Schema of every line this version knows. */
export const streamLineSchema: WireSchema<Exclude<StreamLine, UnknownLine>> = named(
  'StreamLine',
  v.union([sessionLineSchema, messageIdLineSchema, multiModelLineSchema, packetSchema, errorLineSchema]),
)
