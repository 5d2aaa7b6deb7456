import * as v from 'valibot'
import { boolean, dictionary, integer, model, named, orNull, type WireSchema } from '../fields.ts'
import type { Packet } from '../packets/packet-types.ts'
import { packetSchema } from '../packets/packet-table.ts'

/** First line of a run whose request made a new session. */
export interface SessionLine {
  /** Id of the new session. */
  readonly chat_session_id: string
  /** Whether the session leaves no trace. */
  readonly incognito: boolean
}

/** Names the stored messages of a run; once, before any packet. */
export interface MessageIdLine {
  /** The stored question; of a regeneration the existing one. */
  readonly user_message_id: number | null
  /** The message the answer is or will be stored under. */
  readonly reserved_assistant_message_id: number
}

/** The message under which the answer of one model is stored. */
export interface ModelAnswer {
  /** The message the answer will be stored under. */
  readonly message_id: number
  /** Name of the model that answers. */
  readonly model_name: string
}

/** Replaces the message-id line when several models answer; the position in `responses` is `placement.model_index`. */
export interface MultiModelLine {
  /** The stored question. */
  readonly user_message_id: number | null
  /** The answers, in the order of `placement.model_index`. */
  readonly responses: readonly ModelAnswer[]
}

/** Ends a failed run; no `stop` follows. */
export interface ErrorLine {
  /** What failed, safe to show. */
  readonly error: string
  /** Always null here; other servers may fill it. */
  readonly stack_trace: string | null
  /** Code of the failure. */
  readonly error_code: string | null
  /** Whether the same request may succeed later. */
  readonly is_retryable: boolean
  /** Of a model's failure: model, provider, model_index. */
  readonly details: Readonly<Record<string, unknown>> | null
}

/** A line this version does not know, as it came: of a newer server, or of the wrong shape. */
export interface UnknownLine {
  readonly unknown: unknown
}

/** One line of a stream. */
export type StreamLine = SessionLine | MessageIdLine | MultiModelLine | Packet | ErrorLine | UnknownLine

/** The six kinds of a {@link StreamLine}. */
export type LineKind = 'session' | 'message_id' | 'multi_model' | 'packet' | 'error' | 'unknown'

/** Tells the kind of a line by its keys. */
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
