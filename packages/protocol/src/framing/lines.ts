import * as v from 'valibot'
import { boolean, dictionary, integer, model, named, orNull, type WireSchema } from '../fields.ts'
import type { Packet } from '../packets/packet-types.ts'
import { packetSchema } from '../packets/packet-table.ts'

/** First line of a run whose request created a new session. */
export interface SessionLine {
  /** Id of the new session. */
  readonly chat_session_id: string
  /** Whether the session is incognito: nothing is stored. */
  readonly incognito: boolean
}

/** Ids of the stored messages of a run; sent once, before any packet. */
export interface MessageIdLine {
  /** Id of the stored question; for a regeneration, the existing question. */
  readonly user_message_id: number | null
  /** Id under which the answer is or will be stored. */
  readonly reserved_assistant_message_id: number
}

/** The stored answer of one model. */
export interface ModelAnswer {
  /** Id under which the answer will be stored. */
  readonly message_id: number
  /** Name of the model that answers. */
  readonly model_name: string
}

/** Replaces the message-id line when several models answer; positions in `responses` match `placement.model_index`. */
export interface MultiModelLine {
  /** Id of the stored question. */
  readonly user_message_id: number | null
  /** Answers in the order of `placement.model_index`. */
  readonly responses: readonly ModelAnswer[]
}

/** Last line of a failed run; no `stop` packet follows. */
export interface ErrorLine {
  /** Error message, safe to show to users. */
  readonly error: string
  /** Always null here; other servers may fill it. */
  readonly stack_trace: string | null
  /** Code of the failure. */
  readonly error_code: string | null
  /** Whether retrying the same request may succeed. */
  readonly is_retryable: boolean
  /** Details of a model failure: model, provider, model_index. */
  readonly details: Readonly<Record<string, unknown>> | null
}

/** A line unknown to this version: from a newer server, or malformed. */
export interface UnknownLine {
  readonly unknown: unknown
}

/** One line of a stream. */
export type StreamLine = SessionLine | MessageIdLine | MultiModelLine | Packet | ErrorLine | UnknownLine

/** The six kinds of a {@link StreamLine}. */
export type LineKind = 'session' | 'message_id' | 'multi_model' | 'packet' | 'error' | 'unknown'

/** Determines the kind of a line from its keys. */
export function lineKind(line: StreamLine): LineKind {
  if ('obj' in line) return 'packet'
  if ('chat_session_id' in line) return 'session'
  if ('reserved_assistant_message_id' in line) return 'message_id'
  if ('responses' in line) return 'multi_model'
  if ('error' in line) return 'error'
  return 'unknown'
}

/** Whether a line is a packet. */
export function isPacket(line: StreamLine): line is Packet {
  return 'obj' in line
}

/** Whether a line is the error line that ends a failed run. */
export function isErrorLine(line: StreamLine): line is ErrorLine {
  return 'error' in line
}

export const sessionLineSchema: WireSchema<SessionLine> = model('SessionLine', {
  chat_session_id: v.string(),
  incognito: v.optional(boolean, false),
})

export const messageIdLineSchema: WireSchema<MessageIdLine> = model('MessageIdLine', {
  user_message_id: orNull(integer),
  reserved_assistant_message_id: integer,
})

export const multiModelLineSchema: WireSchema<MultiModelLine> = model('MultiModelLine', {
  user_message_id: orNull(integer),
  responses: v.array(model('ModelAnswer', { message_id: integer, model_name: v.string() })),
})

/** Schema of {@link ErrorLine}; also takes the bare `{error}` of a crashed server. */
export const errorLineSchema: WireSchema<ErrorLine> = model('ErrorLine', {
  error: v.string(),
  stack_trace: orNull(v.string()),
  error_code: orNull(v.string()),
  is_retryable: v.optional(boolean, true),
  details: orNull(dictionary(v.unknown())),
})

/** Schema of every line this version knows. */
export const streamLineSchema: WireSchema<Exclude<StreamLine, UnknownLine>> = named(
  'StreamLine',
  v.union([sessionLineSchema, messageIdLineSchema, multiModelLineSchema, packetSchema, errorLineSchema]),
)
