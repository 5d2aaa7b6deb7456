import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvents, type ServerEvent } from '@inlay/drivers/internal/mcp/events'

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
      const cuts = [0, ...places.toSorted((one, other) => one - other).filter((at) => at < bytes.length), bytes.length]
      const pieces = cuts.slice(1).map((at, index) => bytes.slice(cuts[index], at))
      expect(await eventsOf(...pieces)).toEqual(expected)
    }),
  )
})

test('an event that never ends is given up', async () => {
  const piece = bytesOf('x'.repeat(1024 * 1024))
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) })
  await expect(readAll(body)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})
