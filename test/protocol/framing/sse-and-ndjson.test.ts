import { createParser } from 'eventsource-parser'
import fc from '../../fast-check.ts'
import { describe, expect, it } from 'vitest'
import { encodeLine, frameLine, heartbeatLine, type StreamLine, streamFormatFor } from '@inlay/protocol'

const delta = (content: string): StreamLine => ({
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 },
  obj: { type: 'message_delta', content },
})

describe('an encoded line', () => {
  it('is the JSON of its line, on one line whatever the text holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        const json = encodeLine(delta(content))
        expect(json).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
        expect(JSON.parse(json)).toEqual(delta(content.toWellFormed()))
      }),
    )
  })

  it('escapes what some readers take for line ends', () => {
    expect(encodeLine(delta('a\u0085b\u2028c\u2029d\ne'))).toContain('a\\u0085b\\u2028c\\u2029d\\ne')
  })

  it('has no half of a surrogate pair, which Python readers cannot print', () => {
    expect(encodeLine(delta('a\ud83d b \ude00 🙂 \\ud83d'))).toBe(encodeLine(delta('a\ufffd b \ufffd 🙂 \\ud83d')))
  })

  it('has no space between its parts', () => {
    expect(encodeLine({ chat_session_id: 'x', incognito: false })).toBe('{"chat_session_id":"x","incognito":false}')
  })
})

describe('a framed line', () => {
  const json = encodeLine(delta('a\nb'))

  it('is an event with its number, read by a common parser', () => {
    const events: { id?: string; event?: string; data: string }[] = []
    const parser = createParser({ onEvent: (event) => events.push(event) })
    for (const [at, line] of [delta('one'), delta('zwei\n\n'), delta('\u2028')].entries())
      parser.feed(frameLine(encodeLine(line), { format: 'sse', sequence: at + 1 }))
    parser.feed(frameLine(encodeLine(heartbeatLine), { format: 'sse' }))
    expect(events.map((event) => JSON.parse(event.data))).toEqual([
      delta('one'),
      delta('zwei\n\n'),
      delta('\u2028'),
      heartbeatLine,
    ])
    expect(events.map((event) => event.id)).toEqual(['1', '2', '3', undefined])
    expect(events.every((event) => event.event === undefined)).toBe(true)
  })

  it('is one line of text that JSON.parse reads', () => {
    const framed = frameLine(json, { format: 'lines', sequence: 4 })
    expect(framed.split('\n')).toEqual([json, ''])
    expect(JSON.parse(framed)).toEqual(delta('a\nb'))
  })
})

describe('the format of a response', () => {
  it.each([
    ['text/event-stream', 'lines', 'sse'],
    ['application/json, text/event-stream;q=0.1', 'lines', 'sse'],
    ['application/x-ndjson', 'sse', 'lines'],
    ['Application/JSONL; charset=utf-8', 'sse', 'lines'],
    ['application/json, text/plain, */*', 'sse', 'lines'],
    ['application/json;q=0', 'sse', 'sse'],
    ['*/*', 'sse', 'sse'],
    ['*/*', 'lines', 'lines'],
    ['text/html', 'lines', 'lines'],
    ['', 'sse', 'sse'],
    [null, 'lines', 'lines'],
    [undefined, 'sse', 'sse'],
  ] as const)('for Accept %o and default %s is %s', (accept, fallback, format) => {
    expect(streamFormatFor(accept, fallback)).toBe(format)
  })
})
