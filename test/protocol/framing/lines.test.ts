import { describe, expect, it } from 'vitest'
import {
  createLineDecoder,
  encodeLine,
  frameLine,
  heartbeatLine,
  isErrorLine,
  isPacket,
  lineKind,
  packetTable,
  type StreamLine,
} from '@inlay/protocol'
import { streams } from '../fixtures/streams.ts'

/** Sends objects through a stream and reads them back. */
function received(lines: readonly unknown[]): StreamLine[] {
  const decoder = createLineDecoder()
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return [...decoder.push(text), ...decoder.end()].map((each) => each.line)
}

describe('lines of every worked stream', () => {
  it.each(Object.entries(streams))('%s are known and arrive by value', (_name, lines) => {
    expect(received(lines)).toEqual(lines)
  })

  it.each(Object.entries(streams))('%s survive being sent on as events', (_name, lines) => {
    const decoder = createLineDecoder('sse')
    const relayed = received(lines).map((line, at) => frameLine(encodeLine(line), { format: 'sse', sequence: at + 1 }))
    expect(decoder.push(relayed.join('')).map((each) => each.line)).toEqual(lines)
  })

  it('hold a packet of most types and every kind', () => {
    const all = Object.values(streams).flatMap(received)
    const kinds = new Set(all.map(lineKind))
    expect([...kinds].sort()).toEqual(['error', 'message_id', 'multi_model', 'packet', 'session'])
    const types = new Set(all.filter(isPacket).map((packet) => packet.obj.type))
    expect([...types].every((type) => type in packetTable)).toBe(true)
    expect(types.size).toBeGreaterThan(20)
  })
})

describe('the kind of a line', () => {
  const [crash] = received([{ error: 'gone' }])

  it('is told by its keys', () => {
    expect(lineKind({ chat_session_id: 's', incognito: false })).toBe('session')
    expect(lineKind({ user_message_id: 1, reserved_assistant_message_id: 2 })).toBe('message_id')
    expect(lineKind({ user_message_id: 1, responses: [] })).toBe('multi_model')
    expect(lineKind(heartbeatLine)).toBe('packet')
    expect(lineKind({ unknown: { fresh: 1 } })).toBe('unknown')
    expect(crash && lineKind(crash)).toBe('error')
  })

  it('of a bare crash is that of an error line with every field', () => {
    expect(crash).toEqual({
      error: 'gone',
      stack_trace: null,
      error_code: null,
      is_retryable: true,
      details: null,
    })
    expect(crash && isErrorLine(crash)).toBe(true)
  })

  it('is unknown when a known line has the wrong shape', () => {
    const wrong = [{ reserved_assistant_message_id: 'seven' }, { chat_session_id: 7 }, { responses: {} }, { error: 1 }]
    expect(received(wrong)).toEqual(wrong.map((unknown) => ({ unknown })))
  })
})
