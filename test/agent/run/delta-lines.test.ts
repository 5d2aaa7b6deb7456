import { createRun } from '@inlay/agent/internal/run/live-runs'
import { createRunLog } from '@inlay/agent/internal/run/run-log'
import { createFold, encodeLine, type PacketBody, type StreamLine } from '@inlay/protocol'
import { expect, test } from 'vitest'

const texts = [
  '',
  'plain ',
  'a "quote"',
  'back\\slash',
  'line\nend\t',
  '\u0000\u001f',
  '\u2028\u0085',
  '😀',
  '😀'[0]!,
  '😀'[1]!,
  'ü',
]

const packet = (obj: PacketBody, turn = 0, sub: number | null = null): StreamLine => ({
  placement: { turn_index: turn, tab_index: 0, sub_turn_index: sub, model_index: 0 },
  obj,
})

/** The halves of a pair come together. */
const whole = texts.map((text) => (text === '😀'[0] ? '' : text === '😀'[1] ? '😀' : text))

const linesOf = (texts: readonly string[]): readonly StreamLine[] => [
  { user_message_id: 1, reserved_assistant_message_id: 2 },
  packet({ type: 'reasoning_start' }),
  ...texts.map((reasoning) => packet({ type: 'reasoning_delta', reasoning })),
  packet({ type: 'reasoning_done' }),
  packet({ type: 'message_start', final_documents: null, pre_answer_processing_seconds: null }, 1),
  ...texts.map((content) => packet({ type: 'message_delta', content }, 1)),
  packet({ type: 'citation_info', citation_number: 1, document_id: 'd' }, 1),
  ...texts.map((content) => packet({ type: 'message_delta', content }, 1)),
  ...texts.map((content) => packet({ type: 'message_delta', content }, 2)),
  ...texts.map((content) => packet({ type: 'message_delta', content }, 2, 1)),
  packet({ type: 'stop', stop_reason: null }, 2),
]

const lines = linesOf(texts)

const jsonOf = (entries: readonly { json: string }[] | undefined): string[] | undefined =>
  entries?.map(({ json }) => json)

test('lines come out of a log as they are encoded alone, from every cursor', () => {
  const run = createRun({ sessionId: 's', messageId: 2 }, 1_000_000)
  for (const line of lines) run.write(line)
  const expected = linesOf(whole).map(encodeLine)
  for (const cursor of expected.keys()) expect(jsonOf(run.log.after(cursor))).toEqual(expected.slice(cursor))
})

test('the whole answer of a run is that of its lines', async () => {
  const run = createRun({ sessionId: 's', messageId: 2 }, 1_000_000)
  const fold = createFold({ chatSessionId: 's', messageId: 2 })
  for (const line of lines) {
    run.write(line)
    fold.add(line)
  }
  run.end()
  expect(await run.whole()).toEqual(fold.result())
})

test('lines keep their numbers and their order across blocks', () => {
  const log = createRunLog({ maxBytes: 10_000_000 })
  const count = 1_000
  for (let line = 1; line <= count; line++) log.appendDelta(line % 300 === 0 ? 'other ' : 'head ', `${line} `)
  for (const cursor of [0, 1, 63, 64, 65, 298, 299, 300, 301, 999]) {
    const entries = log.after(cursor)!
    expect(entries).toHaveLength(count - cursor)
    for (const [index, { sequence, json }] of entries.entries()) {
      expect(sequence).toBe(cursor + index + 1)
      expect(json).toBe(`${sequence % 300 === 0 ? 'other ' : 'head '}${sequence} "}}`)
    }
  }
  expect(log.after(count)).toEqual([])
})

test('a log holds what its lines have in common once', () => {
  const run = createRun({ sessionId: 's', messageId: 2 }, 10_000_000)
  const words = Array.from({ length: 5_000 }, (_, index) => `word${index} `)
  for (const content of words) run.write(packet({ type: 'message_delta', content }))
  expect(run.log.bytes).toBeLessThan(3 * 2 * words.join('').length)
})

test('a reader is given a part of a long log at a time', () => {
  const log = createRunLog({ maxBytes: 10_000_000 })
  for (let line = 0; line < 5_000; line++) log.append('x'.repeat(100))
  log.end()
  const tail = log.tail(0, () => {})
  const steps: number[] = []
  for (let entries = tail.take(); entries; entries = tail.take()) steps.push(entries.length)
  expect(steps.reduce((sum, length) => sum + length)).toBe(5_000)
  expect(Math.max(...steps)).toBeLessThan(1_000)
})
