import { packLines, unpackLines } from '@inlay/conversations/internal/run-records/line-packing'
import { createDeltaEncoder, deltaTail } from '@inlay/agent/internal/run/delta-lines'
import { encodeLine, type StreamLine } from '@inlay/protocol'
import { expect, test } from 'vitest'

const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const delta = (content: string): string => {
  const line: StreamLine = { placement, obj: { type: 'message_delta', content } }
  const { head, text } = createDeltaEncoder()(line)!
  return head + text + deltaTail
}

test.each([
  ['one line', ['{"a":1}']],
  ['lines that share nothing', ['{"a":1}', '["b"]', '{}', '{"a":1}']],
  ['words of an answer', ['One ', 'two', '', ' and\tthree\n', '"4"\\', '\u2028', '🙂', 'two'].map(delta)],
  ['characters that begin alike', ['🙂', '🙃'].map(delta)],
  [
    'an answer and its end',
    [delta('Yes'), delta('.'), encodeLine({ placement, obj: { type: 'section_end' } }), delta('!')],
  ],
  [
    'lines that are the same, or begin as the whole one before',
    ['{"long":"enough to share"}', '{"long":"enough to share"}', '{"long":"enough to share"} '],
  ],
])('%s come back as they were', (_, lines) => {
  // Databases store it as UTF-8.
  const stored = Buffer.from(packLines(lines), 'utf8').toString('utf8')
  expect(unpackLines(stored)).toEqual(lines)
})

test('lines that were stored before they were packed are read', () => {
  const lines = [delta('One '), delta('two')]
  expect(unpackLines(lines.join('\n'))).toEqual(lines)
})

test('a word of an answer takes little more than its own length', () => {
  const lines = Array.from({ length: 1_000 }, (_, at) => delta(`word${at} `))
  expect(packLines(lines).length / lines.length).toBeLessThan(20)
  expect(lines.join('\n').length / lines.length).toBeGreaterThan(100)
})
