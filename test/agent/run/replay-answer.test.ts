import { expect, test } from 'vitest'
import { replayPackets, type ReplayAnswer, type ReplayCall } from '@inlay/agent/internal/run/replay-answer'
import { inShort, newDoc } from '../setting.ts'

const search: ReplayCall = {
  turnIndex: 0,
  tabIndex: 0,
  reasoning: null,
  arguments: { queries: ['days of leave'] },
  packets: [
    { type: 'search_tool_start', is_internet_search: false },
    { type: 'search_tool_filter_delta', sources: ['web'], time_filter_start: null, time_filter_end: null },
    { type: 'search_tool_queries_delta', queries: ['days of leave', 'leave'] },
    { type: 'search_tool_documents_delta', documents: [newDoc('low', { score: 0.2 }), newDoc('high', { score: 0.9 })] },
  ],
}
const answer: ReplayAnswer = {
  text: '28 days.',
  reasoning: null,
  documents: null,
  citations: [],
  wasCancelled: false,
  calls: [],
}
const replay = (more: Partial<ReplayAnswer>): string[] => replayPackets({ ...answer, ...more }).map(inShort)

test('a search: what the model asked, the best first, then the whole text, its citations, a stop', () => {
  const documents = [newDoc('low', { score: 0.2 }), newDoc('high', { score: 0.9 })]
  const citations = [
    { number: 2, documentId: 'high' },
    { number: 1, documentId: 'low' },
  ]
  expect(replay({ calls: [search], documents, citations })).toEqual([
    '0.0 search_tool_start internal',
    '0.0 search_tool_queries_delta ["days of leave"]',
    '0.0 search_tool_documents_delta [high, low]',
    '0.0 section_end',
    '1.0 message_start [high, low]',
    '1.0 message_delta "28 days."',
    '1.0 section_end',
    '2.0 citation_info 2 high',
    '2.0 citation_info 1 low',
    '2.0 section_end',
    '2.0 stop null',
  ])
  expect(replayPackets(answer).every(({ placement }) => placement.model_index === null)).toBe(true)
})

test('a plain answer is shown at turn 1, after its reasoning at turn 2', () => {
  expect(replay({})).toEqual([
    '1.0 message_start null',
    '1.0 message_delta "28 days."',
    '1.0 section_end',
    '1.0 stop null',
  ])
  expect(replay({ reasoning: 'Hm.' }).slice(0, 4)).toEqual([
    '1.0 reasoning_start',
    '1.0 reasoning_delta "Hm."',
    '1.0 section_end',
    '2.0 message_start null',
  ])
})

test('the reasoning before a call stands a turn before it, or with it when that turn is taken', () => {
  const first = { ...search, turnIndex: 1, reasoning: 'One.', packets: [] }
  const second = { ...search, turnIndex: 2, reasoning: 'Two.', packets: [] }
  expect(replay({ calls: [first, second], text: '' })).toEqual([
    '0.0 reasoning_start',
    '0.0 reasoning_delta "One."',
    '0.0 section_end',
    '1.0 section_end',
    '2.0 reasoning_start',
    '2.0 reasoning_delta "Two."',
    '2.0 section_end',
    '2.0 section_end',
    '2.0 stop null',
  ])
})

test('output of code comes in one piece, a stopped answer says so', () => {
  const code: ReplayCall = {
    ...search,
    packets: [
      { type: 'python_tool_start', code: 'x' },
      { type: 'python_tool_delta', stdout: 'a', stderr: '', file_ids: [] },
      { type: 'python_tool_delta', stdout: 'b', stderr: 'c', file_ids: ['f'] },
    ],
  }
  const packets = replayPackets({ ...answer, calls: [code], wasCancelled: true })
  expect(packets[1]?.obj).toEqual({ type: 'python_tool_delta', stdout: 'ab', stderr: 'c', file_ids: ['f'] })
  expect(packets.at(-1)?.obj).toEqual({ type: 'stop', stop_reason: 'user_cancelled' })
})
