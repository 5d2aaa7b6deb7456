import { expect, test } from 'vitest'
import type { Turn } from '@inlay/client/conversation'
import type { ChatMessageDetail } from '@inlay/protocol'
import { branchTo, storedTurns } from '@inlay/client/internal/conversation/stored-turns'
import { message, said, storedSession } from './stored-answer.ts'

const texts = { connectionEnded: 'It ended.', neverAnswered: 'Nobody answered.', file: 'File' }

/** Two answers to one question (the newer one is shown), then another question. */
const session = storedSession({
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
  packets: [said('Old.'), said('New.', 'user_cancelled'), said('Half')],
})

test('the branch that goes on is shown, each question with its own answer and files', () => {
  const { turns, isRunning } = storedTurns(session, 7, texts)
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
  const { turns, isRunning } = storedTurns({ ...session, current_run: { run_id: 6 }, packets: [[], [], []] }, 1, texts)
  expect([isRunning, turns.at(-1)?.phase]).toEqual([true, 'answering'])
})

test('a question without an answer says so, and nothing at all is no turn', () => {
  const [root, question] = session.messages
  const alone = { ...session, messages: [root!, { ...question!, latest_child_message: null }], packets: [] }
  expect(storedTurns(alone, 1, texts).turns).toMatchObject([
    { phase: 'failed', failure: { message: texts.neverAnswered, retryable: true } },
  ])
  expect(storedTurns({ ...session, messages: [root!] }, 1, texts).turns).toEqual([])
  expect(storedTurns({ ...session, messages: [] }, 1, texts).turns).toEqual([])
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

test('answers of several models stay side by side until one is kept', () => {
  const [root, question] = session.messages
  const given = (id: number, fields: Partial<ChatMessageDetail> = {}): ChatMessageDetail =>
    message({ message_id: id, parent_message: 2, message_type: 'assistant', model_display_name: `m${id}`, ...fields })
  const compared = (fields: Partial<ChatMessageDetail>, ...answers: ChatMessageDetail[]): Turn | undefined =>
    storedTurns(
      storedSession({
        messages: [root!, { ...question!, latest_child_message: 3, ...fields }, ...answers],
        packets: answers.map(({ message_id: id }) => said(`Answer ${id}.`)),
      }),
      1,
      texts,
    ).turns[0]
  const open = compared({}, given(3), given(4))
  expect(
    open?.columns?.map(({ modelName, phase, fold }) => [modelName, phase, fold.answer, fold.state.messageId]),
  ).toEqual([
    ['m3', 'finished', 'Answer 3.', 3],
    ['m4', 'finished', 'Answer 4.', 4],
  ])
  expect(open).toMatchObject({ phase: 'finished', question: 'One?' })
  expect(open?.fold).toBe(open?.columns?.[0]?.fold)
  expect(compared({ preferred_response_id: 3 }, given(3), given(4))?.columns).toBe(null)
  expect(compared({}, given(3), given(4, { time_sent: '2026-01-01T00:01:00Z' }))?.columns).toBe(null)
  expect(compared({}, given(3))?.columns).toBe(null)
})
