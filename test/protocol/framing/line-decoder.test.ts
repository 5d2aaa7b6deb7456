import fc from '../../fast-check.ts'
import { describe, expect, it } from 'vitest'
import {
  createLineDecoder,
  type DecodedLine,
  encodeLine,
  frameLine,
  heartbeatLine,
  type StreamFormat,
  type StreamLine,
} from '@inlay/protocol'

const delta = (content: string): StreamLine => ({
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 },
  obj: { type: 'message_delta', content },
})

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function decodeAll(chunks: Iterable<Uint8Array | string>, format?: StreamFormat): DecodedLine[] {
  const decoder = createLineDecoder(format)
  const lines: DecodedLine[] = []
  for (const chunk of chunks) lines.push(...decoder.push(chunk))
  return [...lines, ...decoder.end()]
}

/** Bytes cut at the given places. */
function cut(whole: Uint8Array, places: number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (whole.length + 1)))].sort((left, right) => left - right)
  return [...ends, whole.length].map((end, at) => whole.slice(at === 0 ? 0 : (ends[at - 1] ?? 0), end))
}

const anyText = fc.string({ unit: 'grapheme' })
const anyPlaces = fc.array(fc.nat({ max: 5000 }), { maxLength: 40 })

describe('a decoder', () => {
  it.each(['sse', 'lines'] as const)('reads %s cut anywhere, with and without being told the format', (format) => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1 }), anyPlaces, fc.boolean(), (texts, places, isFormatKnown) => {
        const lines = texts.map(delta)
        const stream = lines.map((line, at) => frameLine(encodeLine(line), { format, sequence: at + 1 })).join('')
        const decoded = decodeAll(cut(bytes(stream), places), isFormatKnown ? format : undefined)
        expect(decoded.map((each) => each.line)).toEqual(lines)
        if (format === 'sse') expect(decoded.map((each) => each.sequence)).toEqual(lines.map((_, at) => at + 1))
      }),
    )
  })

  it('takes LF, CR and CRLF for line ends, mixed and cut anywhere', () => {
    const end = fc.constantFrom('\n', '\r', '\r\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, end), { minLength: 1 }), anyPlaces, (events, places) => {
        const stream = events
          .map(([text, end], at) => [`id: ${at}`, `data: ${encodeLine(delta(text))}`, '', ''].join(end))
          .join('')
        const decoded = decodeAll(cut(bytes(stream), places))
        expect(decoded).toEqual(events.map(([text], sequence) => ({ sequence, line: delta(text) })))
      }),
    )
  })

  it('reads one byte at a time', () => {
    const stream = bytes(`\uFEFF: hello\r\n\r\nid: 7\r\ndata: ${encodeLine(delta('Straße 🛰️'))}\r\n\r\n`)
    expect(decodeAll([...stream].map((byte) => Uint8Array.of(byte)))).toEqual([
      { sequence: 7, line: delta('Straße 🛰️') },
    ])
  })

  it('joins data of several lines and ignores comments, events and retry times', () => {
    const stream =
      ': keep\nevent: message\nretry: 10\nid: 3\ndata: {"chat_session_id":\ndata:"s",\ndata: "incognito":true}\n\n'
    expect(decodeAll([stream])).toEqual([{ sequence: 3, line: { chat_session_id: 's', incognito: true } }])
  })

  it('gives a line without id no number, though others have one', () => {
    const stream =
      frameLine(encodeLine(delta('a')), { format: 'sse', sequence: 1 }) +
      frameLine(encodeLine(heartbeatLine), { format: 'sse' })
    expect(decodeAll([stream]).map((each) => each.sequence)).toEqual([1, undefined])
  })

  it('reads lines of another JSON style', () => {
    const line = '{"user_message_id": null, "reserved_assistant_message_id": 5}'
    expect(decodeAll([`\n  ${line}  \r\n\n`])).toEqual([
      { line: { user_message_id: null, reserved_assistant_message_id: 5 } },
    ])
  })

  it('reads a last line without end, such as that of a crashed server', () => {
    const crash = { error: 'gone', stack_trace: null, error_code: null, is_retryable: true, details: null }
    expect(decodeAll(['{"error": "gone"}'])).toEqual([{ line: crash }])
    expect(decodeAll(['data: {"error": "gone"}'])).toEqual([{ line: crash }])
    expect(decodeAll(['id: 9\ndata: {"error": "gone"}\n'])).toEqual([{ sequence: 9, line: crash }])
  })

  it('drops half a line at the end', () => {
    expect(decodeAll(['{"chat_session_id":"s"'])).toEqual([])
    expect(decodeAll(['id: 2\ndata: {"chat_sess'])).toEqual([])
    expect(decodeAll([bytes('{"chat_session_id":"ä"}').slice(0, 21)])).toEqual([])
  })

  it('drops a last event whose number is missing while others have one, since it would come twice after a resume', () => {
    const first = frameLine(encodeLine(delta('a')), { format: 'sse', sequence: 1 })
    expect(decodeAll([`${first}data: ${encodeLine(delta('b'))}`])).toEqual([{ sequence: 1, line: delta('a') }])
  })

  it('refuses a line that is not JSON', () => {
    for (const text of ['<html>\n\ndata: <html>\n\n', '{"a":}\n'])
      expect(() => decodeAll([text])).toThrow(expect.objectContaining({ code: 'BAD_GATEWAY' }))
  })

  it('passes on what it does not know', () => {
    expect(decodeAll(['{"fresh": [1]}\n'])).toEqual([{ line: { unknown: { fresh: [1] } } }])
    expect(decodeAll(['data: 12\n\n'])).toEqual([{ line: { unknown: 12 } }])
  })

  it('reads a megabyte that comes in small pieces in one sweep', () => {
    const content = 'x'.repeat(1_000_000)
    const stream = frameLine(encodeLine(delta(content)), { format: 'sse', sequence: 1 })
    const chunks = Array.from({ length: Math.ceil(stream.length / 64) }, (_, at) => stream.slice(at * 64, at * 64 + 64))
    expect(decodeAll(chunks)).toEqual([{ sequence: 1, line: delta(content) }])
  })
})
