import { createParser } from 'eventsource-parser'
import fc from '../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createEventReader, readEvents, type ServerEvent } from '@inlay/drivers/internal/http/event-reader'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function readAll(body: ReadableStream<Uint8Array>): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of readEvents(body)) events.push(event)
  return events
}

async function eventsOf(...pieces: Uint8Array[]): Promise<ServerEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  return readAll(body)
}

test('fields are read as the standard has it', async () => {
  const text = [
    ': a comment',
    'event: endpoint',
    'data:/messages?id=1',
    '',
    'id: 7',
    'retry: 250',
    'data: first',
    'data:  second',
    '',
    'data',
    'unknown: field',
    '',
    'id: 8',
    '',
    'event: lost',
    'data: no blank line ends it',
  ].join('\n')
  expect(await eventsOf(bytesOf(text))).toEqual([
    { event: 'endpoint', data: '/messages?id=1', id: '', retryMs: undefined },
    { event: 'message', data: 'first\n second', id: '7', retryMs: 250 },
    { event: 'message', data: '', id: '7', retryMs: 250 },
  ])
})

test('events are the same wherever their bytes are cut, and however lines end', async () => {
  const text = 'id: ä1\ndata: {"größe": "日本"}\n\nevent: x\ndata: a\ndata: b\n\n'
  const expected = await eventsOf(bytesOf(text))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('\n', '\r', '\r\n'), fc.array(fc.nat(80)), async (end, places) => {
      const bytes = bytesOf(text.replaceAll('\n', end))
      const cuts = [
        0,
        ...places.toSorted((left, right) => left - right).filter((at) => at < bytes.length),
        bytes.length,
      ]
      const pieces = cuts.slice(1).map((at, index) => bytes.slice(cuts[index], at))
      expect(await eventsOf(...pieces)).toEqual(expected)
    }),
  )
})

test('an event that never ends is given up', async () => {
  const piece = bytesOf('x'.repeat(1024 * 1024))
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytesOf('data: ')),
    pull: (controller) => controller.enqueue(piece),
  })
  await expect(readAll(body)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})

/** Reads bytes that arrive in pieces of the given lengths, the rest in one. */
function read(bytes: Uint8Array, lengths: readonly number[] = []): string[] {
  const events: string[] = []
  const reader = createEventReader(({ data }) => events.push(data))
  let at = 0
  for (const length of lengths) reader.push(bytes.subarray(at, (at += length)))
  reader.push(bytes.subarray(at))
  return events
}

describe('events as they are pushed', () => {
  test('data of each event is handed on; comments, names and other fields are not', () => {
    const stream =
      '\uFEFF: hello\n\nevent: x\nid: 7\ndata: {"a":1}\n\ndata:bare\n\nretry: 5\n\ndata\n\ndata: [DONE]\n\n'
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
})
