import type { PacketBody, StreamLine } from '@inlay/protocol'
import { expect, test } from 'vitest'
import {
  ended,
  failed,
  hasMessage,
  keptColumn,
  newTurn,
  sourcesOf,
  stepsOf,
  stopped,
  usualColumn,
  withLines,
} from '@inlay/client/internal/conversation/turn'
import { searchDoc } from '../../page/sources/search-doc.ts'

const packet = (obj: PacketBody, turn = 0): StreamLine => ({
  placement: { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: 0 },
  obj,
})
const texts = { connectionEnded: 'It ended.' }
const howMuch = { question: 'How much?', files: [] }
const leave = searchDoc()
const carry = searchDoc({ document_id: 'handbook/carry', semantic_identifier: 'Carry-over' })

const lines: StreamLine[] = [
  { chat_session_id: '4b0c2f4e-0000-4000-8000-000000000001', incognito: false },
  { user_message_id: 1, reserved_assistant_message_id: 2 },
  packet({ type: 'search_tool_start', is_internet_search: false }),
  packet({ type: 'search_tool_queries_delta', queries: ['leave'] }),
  packet({ type: 'search_tool_documents_delta', documents: [carry, leave] }),
  packet({ type: 'section_end' }),
  packet(
    {
      type: 'message_start',
      final_documents: [carry, leave, { ...leave, chunk_ind: 3 }],
      pre_answer_processing_seconds: 1,
    },
    1,
  ),
  packet({ type: 'message_delta', content: '25 days ' }, 1),
  packet({ type: 'citation_info', citation_number: 1, document_id: 'handbook/leave' }, 1),
  packet({ type: 'message_delta', content: '[[1]](https://wiki.example/leave)' }, 1),
  packet({ type: 'stop', stop_reason: null }, 1),
]

test('a turn takes session, steps, answer and end from its lines', () => {
  const turn = withLines(newTurn(1, howMuch, null), lines)
  expect(turn.phase).toBe('finished')
  expect(turn.sessionId).toBe('4b0c2f4e-0000-4000-8000-000000000001')
  expect(turn.fold.answer).toBe('25 days [[1]](https://wiki.example/leave)')
  expect(stepsOf(turn).map(({ kind }) => kind)).toEqual(['tool'])
})

test('sources come by their numbers, with all passages of a document together, and the rest after them', () => {
  const { cited, uncited } = sourcesOf(withLines(newTurn(1, howMuch, null), lines))
  expect(cited.map(({ number, passages }) => [number, passages.map((passage) => passage.chunk_ind)])).toEqual([
    [1, [0, 3]],
  ])
  expect(uncited.map(({ documentId }) => documentId)).toEqual(['handbook/carry'])
})

test('documents are sources as soon as a step has found them', () => {
  expect(sourcesOf(withLines(newTurn(1, howMuch, null), lines.slice(0, 5))).uncited).toHaveLength(2)
})

test('what was said on the way to the answer is a step', () => {
  const turn = withLines(newTurn(1, howMuch, null), [
    packet({ type: 'message_start', final_documents: null, pre_answer_processing_seconds: 0 }),
    packet({ type: 'message_delta', content: 'Let me look.' }),
    ...lines.slice(2, 9).map((line) => ('obj' in line ? packet(line.obj, line.placement.turn_index + 1) : line)),
  ])
  expect(stepsOf(turn).map(({ kind }) => kind)).toEqual(['text', 'tool'])
  expect(turn.fold.answer).toBe('25 days ')
})

test('what agents do side by side stands with each of them', () => {
  const at = (tab: number, sub: number | null, obj: PacketBody): StreamLine => ({
    placement: { turn_index: 1, tab_index: tab, sub_turn_index: sub, model_index: 0 },
    obj,
  })
  const agents = [0, 1].map((tab) => at(tab, null, { type: 'research_agent_start', research_task: `task ${tab}` }))
  const searches = [1, 0, 1].map((tab, step) => at(tab, step, { type: 'search_tool_start', is_internet_search: false }))
  const steps = stepsOf(withLines(newTurn(1, howMuch, null), [...agents, ...searches]))
  expect(steps.map(({ kind, placement }) => `${kind} ${placement.tab_index}`)).toEqual([
    'research 0',
    'tool 0',
    'research 1',
    'tool 1',
    'tool 1',
  ])
})

test('a failed run keeps what was said and says why it ended', () => {
  const error = {
    error: 'The model failed.',
    stack_trace: null,
    error_code: 'API_ERROR',
    is_retryable: true,
    details: null,
  }
  const turn = withLines(newTurn(1, howMuch, null), [...lines.slice(0, 8), error])
  expect(turn).toMatchObject({ phase: 'failed', failure: { message: 'The model failed.', retryable: true } })
  expect(turn.fold.answer).toBe('25 days ')
})

test('a stream that just ends has failed, unless the turn was over', () => {
  expect(ended(withLines(newTurn(1, howMuch, null), lines.slice(0, 8)), texts).phase).toBe('failed')
  expect(ended(withLines(newTurn(1, howMuch, null), lines), texts).phase).toBe('finished')
})

test('a stopped turn is no failed one', () => {
  const stop = packet({ type: 'stop', stop_reason: 'user_cancelled' })
  expect(withLines(newTurn(1, howMuch, null), [...lines.slice(0, 8), stop]).phase).toBe('stopped')
  const over = failed(newTurn(1, howMuch, null), { message: 'No.', retryable: false })
  expect(stopped(over)).toBe(over)
})

/** The text of a model. */
const from = (modelIndex: number, obj: PacketBody): StreamLine => ({
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: modelIndex },
  obj,
})
const begun = { type: 'message_start', final_documents: null, pre_answer_processing_seconds: null } as const
const several: StreamLine[] = [
  { chat_session_id: '4b0c2f4e-0000-4000-8000-000000000001', incognito: false },
  {
    user_message_id: 1,
    responses: [
      { message_id: 2, model_name: 'Large' },
      { message_id: 3, model_name: 'Small' },
    ],
  },
  from(0, begun),
  from(1, begun),
  from(1, { type: 'message_delta', content: 'Few.' }),
  from(0, { type: 'message_delta', content: 'Twenty-five.' }),
  from(1, { type: 'stop', stop_reason: null }),
]

test('several models answer in columns of their own, and the turn goes on until each has ended', () => {
  const half = withLines(withLines(newTurn(1, howMuch, null), several.slice(0, 4)), several.slice(4))
  expect(half.phase).toBe('answering')
  expect(
    half.columns?.map(({ modelName, phase, fold }) => [modelName, phase, fold.answer, fold.state.messageId]),
  ).toEqual([
    ['Large', 'answering', 'Twenty-five.', 2],
    ['Small', 'finished', 'Few.', 3],
  ])
  expect([1, 2, 3, 4].map((id) => hasMessage(half, id))).toEqual([true, true, true, false])
  const whole = withLines(half, [from(0, { type: 'stop', stop_reason: null })])
  expect(whole.phase).toBe('finished')
  const kept = keptColumn(whole, whole.columns?.[1])
  expect([kept.id, kept.columns, kept.fold.answer, kept.modelName]).toEqual([1, null, 'Few.', 'Small'])
})

test('one model may fail: the other answer stays, and only both failing fails the turn', () => {
  const error = (modelIndex: number): StreamLine => ({
    error: 'It is away.',
    stack_trace: null,
    error_code: 'CONNECTION_ERROR',
    is_retryable: true,
    details: { model_index: modelIndex },
  })
  const half = withLines(withLines(newTurn(1, howMuch, null), several), [error(0)])
  expect(half.phase).toBe('finished')
  expect(half.columns?.map(({ phase, failure }) => [phase, failure?.message])).toEqual([
    ['failed', 'It is away.'],
    ['finished', undefined],
  ])
  expect(usualColumn(half.columns)?.modelName).toBe('Small')
  const none = withLines(withLines(newTurn(1, howMuch, null), several.slice(0, 4)), [error(0), error(1)])
  expect(none.phase).toBe('failed')
  expect(usualColumn(none.columns)?.modelName).toBe('Large')
  const cut = ended(withLines(newTurn(1, howMuch, null), several), texts)
  expect(cut.columns?.map(({ phase }) => phase)).toEqual(['failed', 'finished'])
  const left = stopped(withLines(newTurn(1, howMuch, null), several))
  expect([left.phase, ...(left.columns ?? []).map(({ phase }) => phase)]).toEqual(['stopped', 'stopped', 'finished'])
})
