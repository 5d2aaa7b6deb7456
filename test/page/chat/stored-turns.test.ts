import type { ChatMessageDetail, ChatSessionDetail, PacketBody } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { branchTo, storedTurns } from '../../../packages/page/src/chat/stored-turns.ts'

const message = (fields: Partial<ChatMessageDetail> & { message_id: number }): ChatMessageDetail => ({
  chat_session_id: 's',
  parent_message: null,
  latest_child_message: null,
  message: '',
  reasoning_tokens: null,
  message_type: 'system',
  context_docs: null,
  citations: null,
  time_sent: '2026-01-01T00:00:00Z',
  files: [],
  error: null,
  current_feedback: null,
  processing_duration_seconds: null,
  preferred_response_id: null,
  model_display_name: null,
  request_params: null,
  failed_calls: [],
  ...fields,
})

const packets = (...bodies: PacketBody[]): ChatSessionDetail['packets'][number] =>
  bodies.map((obj) => ({
    placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
    obj,
  }))
const said = (content: string, reason: 'user_cancelled' | null = null): ChatSessionDetail['packets'][number] =>
  packets(
    { type: 'message_start', final_documents: null, pre_answer_processing_seconds: null },
    { type: 'message_delta', content },
    { type: 'stop', stop_reason: reason },
  )

/** Two answers to one question (the newer one is shown), then another question. */
const session: ChatSessionDetail = {
  chat_session_id: 's',
  description: '',
  persona_id: 0,
  persona_name: null,
  personal_icon_name: null,
  messages: [
    message({ message_id: 1, latest_child_message: 2 }),
    message({
      message_id: 2,
      parent_message: 1,
      latest_child_message: 4,
      message_type: 'user',
      message: 'One?',
      files: [{ id: 'f', type: 'document', name: 'a.pdf', user_file_id: null }],
    }),
    message({ message_id: 3, parent_message: 2, message_type: 'assistant' }),
    message({ message_id: 4, parent_message: 2, latest_child_message: 5, message_type: 'assistant' }),
    message({ message_id: 5, parent_message: 4, latest_child_message: 6, message_type: 'user', message: 'Two?' }),
    message({ message_id: 6, parent_message: 5, message_type: 'assistant', error: 'The model failed.' }),
  ],
  time_created: '2026-01-01T00:00:00Z',
  shared_status: 'private',
  current_alternate_model: null,
  current_temperature_override: null,
  current_reasoning_effort_override: null,
  deleted: false,
  owner_name: null,
  packets: [said('Old.'), said('New.', 'user_cancelled'), said('Half')],
  current_run: null,
  incognito: false,
}

test('the branch that goes on is shown, each question with its own answer and files', () => {
  const { turns, isRunning } = storedTurns(session, 7)
  expect(isRunning).toBe(false)
  expect(turns.map(({ id, question, phase, fold }) => [id, question, phase, fold.answer])).toEqual([
    [7, 'One?', 'stopped', 'New.'],
    [8, 'Two?', 'failed', 'Half'],
  ])
  expect(turns[0]?.files).toEqual([{ id: 'f', name: 'a.pdf' }])
  expect(turns[1]).toMatchObject({ failure: { message: 'The model failed.', retryable: true }, sessionId: 's' })
  expect(turns[1]?.fold.state.userMessageId).toBe(5)
})

test('an answer that is still being made is left to be followed', () => {
  const { turns, isRunning } = storedTurns({ ...session, current_run: { run_id: 6 }, packets: [[], [], []] }, 1)
  expect([isRunning, turns.at(-1)?.phase]).toEqual([true, 'answering'])
})

test('a question without an answer says so, and nothing at all is no turn', () => {
  const [root, question] = session.messages
  const alone = { ...session, messages: [root!, { ...question!, latest_child_message: null }], packets: [] }
  expect(storedTurns(alone, 1).turns).toMatchObject([{ phase: 'failed', failure: { retryable: true } }])
  expect(storedTurns({ ...session, messages: [root!] }, 1).turns).toEqual([])
  expect(storedTurns({ ...session, messages: [] }, 1).turns).toEqual([])
})

test('a message of another branch names what to select, the nearest to the beginning first', () => {
  expect(branchTo(session, 6)).toEqual([])
  expect(branchTo(session, 3)).toEqual([3])
  const messages = session.messages.map((each) => (each.message_id === 4 ? { ...each, latest_child_message: 9 } : each))
  expect(
    branchTo(
      { messages: messages.map((each) => (each.message_id === 2 ? { ...each, latest_child_message: 3 } : each)) },
      6,
    ),
  ).toEqual([4, 5])
  expect(branchTo(session, 77)).toEqual([])
})
