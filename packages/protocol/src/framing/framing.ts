import type { StreamLine } from './lines.ts'
import type { Packet } from '../packets/packet-types.ts'

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
