import * as v from 'valibot'
import { InlayError } from '../errors/error-codes.ts'
import {
  errorLineSchema,
  messageIdLineSchema,
  multiModelLineSchema,
  sessionLineSchema,
  type StreamLine,
} from './lines.ts'
import type { StreamFormat } from './sse-and-ndjson.ts'
import { packetTable, placementSchema } from '../packets/packet-table.ts'
import type { PacketType } from '../packets/packet-types.ts'

export interface DecodedLine {
  /** Number of the line in its run; absent in the lines format and for heartbeats. */
  readonly sequence?: number
  readonly line: StreamLine
}

/** Decodes bytes into lines and buffers incomplete input. */
export interface LineDecoder {
  /** @throws BAD_GATEWAY for a line that is not JSON */
  push(chunk: Uint8Array | string): DecodedLine[]
  /** Returns lines completed by the end of the stream; a partial line is dropped. */
  end(): DecodedLine[]
}

/** Converts a JSON object to one of the known lines; anything else is passed through as unknown. */
export function toStreamLine(value: unknown): StreamLine {
  if (typeof value !== 'object' || value === null) return { unknown: value }
  if ('chat_session_id' in value) return read(sessionLineSchema, value)
  if ('reserved_assistant_message_id' in value) return read(messageIdLineSchema, value)
  if ('responses' in value) return read(multiModelLineSchema, value)
  if ('obj' in value) return toPacket(value)
  if ('error' in value) return read(errorLineSchema, value)
  return { unknown: value }
}

function read<Output extends StreamLine>(schema: v.GenericSchema<unknown, Output>, value: unknown): StreamLine {
  const result = v.safeParse(schema, value)
  return result.success ? result.output : { unknown: value }
}

function toPacket(value: { obj: unknown; placement?: unknown }): StreamLine {
  const { obj } = value
  const type = typeof obj === 'object' && obj !== null && 'type' in obj ? obj.type : undefined
  if (typeof type !== 'string' || !Object.hasOwn(packetTable, type)) return { unknown: value }
  const placement = v.safeParse(placementSchema, value.placement)
  // `hasOwn` above proves that this is a key of the table.
  const body = v.safeParse(packetTable[type as PacketType].schema, obj)
  return placement.success && body.success ? { placement: placement.output, obj: body.output } : { unknown: value }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new InlayError('BAD_GATEWAY', { message: 'The stream holds a line that is not JSON.', cause })
  }
}

/** Splits text into lines at LF, CR or CRLF, independent of chunk boundaries. */
function createLineCutter(): { cut(text: string): string[]; rest(): string } {
  // Append-only and read once at its end: searching it again for each chunk would be quadratic.
  let pending = ''
  let afterReturn = false
  return {
    cut(text) {
      // A CR at the end of a chunk already ended its line, so a following LF belongs to it.
      let start = afterReturn && text.startsWith('\n') ? 1 : 0
      if (text !== '') afterReturn = false
      const lines: string[] = []
      const ends = /\r\n?|\n/g
      ends.lastIndex = start
      for (let end = ends.exec(text); end; end = ends.exec(text)) {
        lines.push(pending + text.slice(start, end.index))
        pending = ''
        start = ends.lastIndex
        afterReturn = end[0] === '\r' && start === text.length
      }
      pending += text.slice(start)
      return lines
    },
    rest: () => pending,
  }
}

/** Reads Server-Sent Events fields; event names and retry times are ignored. */
function createEventReader(): { take(line: string): DecodedLine[]; end(rest: string): DecodedLine[] } {
  let pending: { data: string[]; sequence: number | undefined } = { data: [], sequence: undefined }
  let isNumbered = false
  const dispatch = (): DecodedLine[] => {
    const { data, sequence } = pending
    pending = { data: [], sequence: undefined }
    if (data.length === 0) return []
    return [{ sequence, line: toStreamLine(parse(data.join('\n'))) }]
  }
  const take = (line: string): DecodedLine[] => {
    if (line === '') return dispatch()
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const raw = colon === -1 ? '' : line.slice(colon + 1)
    const value = raw.startsWith(' ') ? raw.slice(1) : raw
    if (field === 'data') pending.data.push(value)
    if (field === 'id') {
      pending.sequence = /^\d{1,15}$/.test(value) ? Number(value) : undefined
      isNumbered ||= pending.sequence !== undefined
    }
    return []
  }
  const end = (rest: string): DecodedLine[] => {
    if (rest !== '') take(rest)
    // A line without a number could not be distinguished from a repetition after a resume.
    return isNumbered && pending.sequence === undefined ? [] : dispatch()
  }
  return { take, end }
}

/** Reads one JSON object per line; blank lines are ignored. */
function createObjectReader(): { take(line: string): DecodedLine[]; end(rest: string): DecodedLine[] } {
  const take = (line: string): DecodedLine[] => (line.trim() === '' ? [] : [{ line: toStreamLine(parse(line)) }])
  return { take, end: take }
}

/**
 * Decodes a stream of either format from arbitrary chunks, even ones that split a character.
 * @param format absent: detected from the first non-blank line
 */
export function createLineDecoder(format?: StreamFormat): LineDecoder {
  const decoder = new TextDecoder()
  const cutter = createLineCutter()
  let reader = format && (format === 'sse' ? createEventReader() : createObjectReader())
  const readerFor = (line: string): NonNullable<typeof reader> =>
    (reader ??= line.trimStart().startsWith('{') ? createObjectReader() : createEventReader())
  const take = (text: string): DecodedLine[] =>
    cutter.cut(text).flatMap((line) => (line === '' && !reader ? [] : readerFor(line).take(line)))
  return {
    push(chunk) {
      return take(typeof chunk === 'string' ? decoder.decode() + chunk : decoder.decode(chunk, { stream: true }))
    },
    end() {
      const decoded = take(decoder.decode())
      const rest = cutter.rest()
      if (rest === '' && !reader) return decoded
      try {
        return [...decoded, ...readerFor(rest).end(rest)]
      } catch {
        return decoded
      }
    },
  }
}
