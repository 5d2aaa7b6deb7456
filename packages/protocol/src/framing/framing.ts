import type { Packet } from '../packets/packet-types.ts'
import * as v from 'valibot'
import { dictionary, integer, model, named, orNull, type WireSchema } from '../fields.ts'
import { packetSchema } from '../packets/packets.ts'

/** How lines travel: as Server-Sent Events, or one JSON object per text line. */
export type StreamFormat = 'sse' | 'lines'

// Some readers take these for line ends although JSON allows them in strings.
const lineEnds = /[\u0085\u2028\u2029]/
const allLineEnds = /[\u0085\u2028\u2029]/g
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A line as compact JSON without any kind of line end in it. */
export function encodeLine(line: StreamLine): string {
  const json = JSON.stringify('unknown' in line ? line.unknown : line)
  return lineEnds.test(json) ? json.replace(allLineEnds, escaped) : json
}

/**
 * An encoded line, ready to be sent.
 * @param options.sequence number of the line in its run, from 1; absent for heartbeats; the lines format has no place for it
 */
export function frameLine(json: string, options: { format: StreamFormat; sequence?: number }): string {
  if (options.format === 'lines') return `${json}\n`
  return options.sequence === undefined ? `data: ${json}\n\n` : `id: ${options.sequence}\ndata: ${json}\n\n`
}

/** Keeps a silent connection open; sent without a number. */
export const heartbeatLine: Packet = {
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
  obj: { type: 'chat_heartbeat' },
}

/** Content type of a stream, in both formats. */
export const streamContentType = 'text/event-stream; charset=utf-8'

const linesTypes = new Set(['application/x-ndjson', 'application/jsonl', 'application/json'])

/** The format an `Accept` header asks for; `text/event-stream` in it always wins, and silence gives the fallback. */
export function streamFormatFor(acceptHeader: string | null | undefined, fallback: StreamFormat): StreamFormat {
  let format = fallback
  for (const range of (acceptHeader ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) continue
    if (type === 'text/event-stream') return 'sse'
    if (linesTypes.has(type)) format = 'lines'
  }
  return format
}

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

/** Schema of {@link SessionLine}. */
export const sessionLineSchema: WireSchema<SessionLine> = model('SessionLine', {
  chat_session_id: v.string(),
  incognito: v.optional(v.boolean(), false),
})

/** Schema of {@link MessageIdLine}. */
export const messageIdLineSchema: WireSchema<MessageIdLine> = model('MessageIdLine', {
  user_message_id: orNull(integer),
  reserved_assistant_message_id: integer,
})

/** Schema of {@link MultiModelLine}. */
export const multiModelLineSchema: WireSchema<MultiModelLine> = model('MultiModelLine', {
  user_message_id: orNull(integer),
  responses: v.array(model('ModelAnswer', { message_id: integer, model_name: v.string() })),
})

/** Schema of {@link ErrorLine}; also takes the bare `{error}` of a crashed server. */
export const errorLineSchema: WireSchema<ErrorLine> = model('ErrorLine', {
  error: v.string(),
  stack_trace: orNull(v.string()),
  error_code: orNull(v.string()),
  is_retryable: v.optional(v.boolean(), true),
  details: orNull(dictionary(v.unknown())),
})

/** Schema of every line this version knows. */
export const streamLineSchema: WireSchema<Exclude<StreamLine, UnknownLine>> = named(
  'StreamLine',
  v.union([sessionLineSchema, messageIdLineSchema, multiModelLineSchema, packetSchema, errorLineSchema]),
)
