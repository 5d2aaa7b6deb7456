import { wellFormedJson } from '../json.ts'
import type { Packet, PacketBody, PacketOf } from '../packets/packet-types.ts'
import type { SearchDoc } from '../packets/search-doc.ts'
import type { StreamLine } from './lines.ts'

/** Stream format: Server-Sent Events, or one JSON object per line. */
export type StreamFormat = 'sse' | 'lines'

// Some readers treat these as line ends although JSON allows them in strings.
const lineEnds = /[\u0085\u2028\u2029]/
const allLineEnds = /[\u0085\u2028\u2029]/g
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Encodes a line as compact JSON without any line end. */
export function encodeLine(line: StreamLine): string {
  const json = wellFormedJson('unknown' in line ? line.unknown : line)
  return lineEnds.test(json) ? json.replace(allLineEnds, escaped) : json
}

/** Encodes a line; splits it when it is too long, see {@link splitLine}. */
export function encodeLines(line: StreamLine): string[] {
  const json = encodeLine(line)
  return json.length <= shortLine ? [json] : splitLine(line).map(encodeLine)
}

/**
 * Frames an encoded line for sending.
 * @param options.sequence number of the line in its run, from 1; absent for heartbeats; unused in the lines format
 */
export function frameLine(json: string, options: { format: StreamFormat; sequence?: number }): string {
  if (options.format === 'lines') return `${json}\n`
  return options.sequence === undefined ? `data: ${json}\n\n` : `id: ${options.sequence}\ndata: ${json}\n\n`
}

/** Keeps an idle connection open; sent without a number. */
export const heartbeatLine: Packet = {
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
  obj: { type: 'chat_heartbeat' },
}

/** Content type of a stream, in both formats. */
export const streamContentType = 'text/event-stream; charset=utf-8'

const linesTypes = new Set(['application/x-ndjson', 'application/jsonl', 'application/json'])

/** The format for an `Accept` header: `text/event-stream` always wins, and no preference means the fallback. */
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

/** Maximum size of an encoded line: 1 MiB minus framing. */
export const maxLineBytes: number = 1024 * 1024 - 64

/** Upper bound for placement, type and field names. */
const envelopeBytes = 512
/** JSON encodes a UTF-16 unit in at most six bytes (`\u0000`). */
const bytesPerUnit = 6

/** Splits text into pieces of at most `most` UTF-16 units (at least 2), never inside a surrogate pair. */
function pieces(text: string, most: number): string[] {
  const cut: string[] = []
  for (let start = 0; start < text.length;) {
    const end = Math.min(start + most, text.length)
    const isCutInPair = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
    const whole = isCutInPair ? end - 1 : end
    cut.push(text.slice(start, whole))
    start = whole
  }
  return cut
}

/** Splits a body whose text is appended by clients; undefined when it has no such text or is short enough. */
function splitBody(body: PacketBody, most: number): PacketBody[] | undefined {
  switch (body.type) {
    case 'message_delta':
    case 'intermediate_report_delta':
    case 'deep_research_plan_delta':
    case 'coding_agent_thinking_delta':
      if (body.content.length <= most) return undefined
      return pieces(body.content, most).map((content) => ({ type: body.type, content }))
    case 'reasoning_delta':
      if (body.reasoning.length <= most) return undefined
      return pieces(body.reasoning, most).map((reasoning) => ({ type: body.type, reasoning }))
    case 'python_tool_delta':
    case 'bash_tool_delta':
      return body.stdout.length + body.stderr.length <= most ? undefined : splitOutput(body, most)
    case 'tool_call_argument_delta':
      return splitArguments(body, most)
    default:
      return undefined
  }
}

/** Splits output into pieces; files, exit code and the like come with the last piece. */
function splitOutput(body: PacketOf<'python_tool_delta'> | PacketOf<'bash_tool_delta'>, most: number): PacketBody[] {
  const output = [
    ...pieces(body.stdout, most).map((stdout) => ({ stdout, stderr: '' })),
    ...pieces(body.stderr, most).map((stderr) => ({ stdout: '', stderr })),
  ]
  return output.map((part, at): PacketBody => {
    const isLast = at === output.length - 1
    if (body.type === 'python_tool_delta') return { ...body, ...part, file_ids: isLast ? body.file_ids : [] }
    return isLast ? { ...body, ...part } : { ...body, ...part, exit_code: null, timed_out: false }
  })
}

function splitArguments(body: PacketOf<'tool_call_argument_delta'>, most: number): PacketBody[] | undefined {
  const deltas = Object.entries(body.argument_deltas)
  const isShort = deltas.every(([, delta]) => typeof delta === 'string') && JSON.stringify(deltas).length <= most
  if (isShort) return undefined
  return deltas.flatMap(([name, delta]) =>
    pieces(String(delta), most).map((part) => ({ ...body, argument_deltas: Object.fromEntries([[name, part]]) })),
  )
}

const encoder = new TextEncoder()

function fits(line: StreamLine, maxBytes: number): boolean {
  const json = encodeLine(line)
  return json.length * 3 <= maxBytes || encoder.encode(json).length <= maxBytes
}

const head = (text: string, most: number): string => pieces(text.slice(0, most + 1), most)[0] ?? ''

const shortened = (document: SearchDoc, most: number): SearchDoc => ({
  ...document,
  blurb: head(document.blurb, most),
  match_highlights: document.match_highlights.slice(0, 4).map((highlight) => head(highlight, most)),
})

/** Documents shortened step by step: first blurbs and highlights, then metadata, then the number of documents. */
function* smallerDocuments(documents: readonly SearchDoc[]): Generator<readonly SearchDoc[]> {
  for (const most of [4000, 1000, 200]) yield documents.map((document) => shortened(document, most))
  const bare = documents.map((document) => ({ ...shortened(document, 200), metadata: {} }))
  for (let kept = bare.length; kept > 0; kept = Math.floor(kept / 2)) yield bare.slice(0, kept)
  yield []
}

/** A JSON value with long texts, lists and objects truncated. */
function trimmed(value: unknown, most: number): unknown {
  if (typeof value === 'string') return head(value, most)
  if (Array.isArray(value)) return value.slice(0, most).map((item) => trimmed(item, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, most)
      .map(([key, item]) => [key, trimmed(item, most)]),
  )
}

function* smallerBodies(body: PacketBody): Generator<PacketBody> {
  if ('documents' in body) for (const documents of smallerDocuments(body.documents)) yield { ...body, documents }
  else if ('final_documents' in body)
    for (const documents of smallerDocuments(body.final_documents ?? [])) yield { ...body, final_documents: documents }
  else if ('cited_docs' in body)
    for (const documents of smallerDocuments(body.cited_docs ?? [])) yield { ...body, cited_docs: documents }
  else
    // Truncation keeps the shape: no body has as many as 16 fields, and types do not change.
    for (const most of [100_000, 10_000, 1000, 100, 16]) yield trimmed(body, most) as PacketBody
}

function smallerPacket(packet: Packet, maxBytes: number): Packet {
  let smallest = packet
  for (const obj of smallerBodies(packet.obj)) {
    smallest = { ...packet, obj }
    if (fits(smallest, maxBytes)) break
  }
  return smallest
}

/** UTF-16 units that fit into the limit whatever the text contains. */
const maxTextLength = (maxBytes: number): number => Math.max(2, Math.floor((maxBytes - envelopeBytes) / bytesPerUnit))

/** Lines with at most this many UTF-16 units are never split. */
const shortLine = maxTextLength(maxLineBytes)

/**
 * Splits a line into lines that each fit the limit when encoded; most already do. Appended text is split and joins to
 * the same text; documents lose the ends of blurbs and highlights first; other values are truncated.
 * Cheap for deltas, which are measured by their length only.
 */
export function splitLine(line: StreamLine, maxBytes: number = maxLineBytes): readonly StreamLine[] {
  if (!('obj' in line)) {
    if (!('error' in line) || fits(line, maxBytes)) return [line]
    return [{ ...line, error: head(line.error, 10_000), stack_trace: null, details: null }]
  }
  const most = maxTextLength(maxBytes)
  const { obj } = line
  // Fast path for the most frequent packet.
  if (obj.type === 'message_delta' && obj.content.length <= most) return [line]
  const split = splitBody(obj, most)
  if (split) return split.map((part) => ({ placement: line.placement, obj: part }))
  return [fits(line, maxBytes) ? line : smallerPacket(line, maxBytes)]
}
