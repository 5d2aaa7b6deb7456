import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventReader } from '@inlay/drivers/internal/models/stream/event-reader'

/** Reads bytes that arrive in pieces of the given lengths, the rest in one. */
function read(bytes: Uint8Array, lengths: readonly number[] = []): string[] {
  const events: string[] = []
  const reader = createEventReader((data) => events.push(data))
  let at = 0
  for (const length of lengths) reader.push(bytes.subarray(at, (at += length)))
  reader.push(bytes.subarray(at))
  return events
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('data of each event is handed on; comments, names and other fields are not', () => {
  const stream = '\uFEFF: hello\n\nevent: x\nid: 7\ndata: {"a":1}\n\ndata:bare\n\nretry: 5\n\ndata\n\ndata: [DONE]\n\n'
  expect(read(bytesOf(stream))).toEqual(['{"a":1}', 'bare', '', '[DONE]'])
})

test('data on several lines is one event', () => {
  expect(read(bytesOf('data: one\ndata:  two\ndata\n\n'))).toEqual(['one\n two\n'])
})

test('an event that was not ended is none', () => {
  expect(read(bytesOf('data: whole\n\ndata: half'))).toEqual(['whole'])
  expect(read(bytesOf('data: whole\n\ndata: half\n'))).toEqual(['whole'])
})

test('wherever the bytes are cut, the events are those that another reader finds', () => {
  const line = fc.constantFrom('data: ä€😀', 'data:x', 'data', ': ping', 'event: e', 'data: {"a":"b"}', 'id: 3', '')
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 80 }), (lines, lengths) => {
      // Ends in a comment: a stream that ends in CR is one that other readers still wait on.
      const text = `${lines.flat().join('')}\n\n: end\n`
      const expected: string[] = []
      createParser({ onEvent: ({ data }) => void expected.push(data) }).feed(text)
      expect(read(bytesOf(text), lengths)).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})
