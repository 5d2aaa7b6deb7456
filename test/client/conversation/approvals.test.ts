import {
  argumentTexts,
  decisionOn,
  isExpired,
  placeOf,
  toolOf,
  waitingCallsOf,
  type Turn,
} from '@inlay/client/conversation'
import type { PacketBody } from '@inlay/protocol'
import { newTurn, withLines } from '@inlay/client/conversation'
import { expect, test } from 'vitest'

const requestOf = (id: string, more: object = {}): PacketBody => ({
  type: 'tool_approval_request',
  tool_call_id: id,
  tool_name: 'remove',
  display_name: 'Remove',
  server_name: null,
  arguments: { page: 7 },
  expires_at: '2999-01-01T00:00:00.000Z',
  ...more,
})

function turnWith(requests: readonly PacketBody[], reason: string | null = null): Turn {
  const stop: PacketBody = { type: 'stop', stop_reason: reason }
  const packets = [...requests, stop].map((obj, tab) => ({
    placement: { turn_index: 0, tab_index: tab, sub_turn_index: null, model_index: null },
    obj,
  }))
  const ids = { user_message_id: 3, reserved_assistant_message_id: 4 }
  return withLines(newTurn(1, { question: 'Q', files: [] }, 's'), [ids, ...packets])
}

test('calls wait in the last turn alone, and not after a stop', () => {
  const turn = turnWith([requestOf('a'), requestOf('b')])
  expect(waitingCallsOf(turn, true).map(({ tool_call_id: id }) => id)).toEqual(['a', 'b'])
  expect(waitingCallsOf(turn, false)).toEqual([])
  expect(waitingCallsOf(turnWith([requestOf('a')], 'user_cancelled'), true)).toEqual([])
})

test('a decision names each call, and is sent once as such', () => {
  const turn = turnWith([requestOf('a'), requestOf('b')])
  const words = ({ tool_call_id: id }: { tool_call_id: string }, isYes: boolean): string => `${id}: ${isYes}`
  const question = decisionOn(turn, waitingCallsOf(turn, true), new Map([['a', true]]), words)
  expect(question.question).toBe('a: true\nb: false')
  const approvals = [
    { tool_call_id: 'a', approved: true },
    { tool_call_id: 'b', approved: false },
  ]
  expect(placeOf(question, { againId: null, parentId: 9 })).toEqual({ parent_message_id: 4, tool_approvals: approvals })
  expect(placeOf(question, { againId: 5 })).toEqual({ parent_message_id: 5 })
  // What never reached the service is sent again as it was.
  expect(newTurn(2, question, 's').decision).toEqual({ answerId: 4, approvals })
})

test('arguments show every character that could hide another', () => {
  const [request] = waitingCallsOf(
    turnWith([requestOf('a', { arguments: { to: 'a\u202Eb\u200B\u0000c\nd', list: [1, 'x'] } })]),
    true,
  )
  expect(argumentTexts(request!)).toEqual([
    { name: 'to', text: 'a\\u{202e}b\\u{200b}\\u{0}c\nd' },
    { name: 'list', text: '[\n  1,\n  "x"\n]' },
  ])
})

test('the title of a tool is shown with its name, unless it is the same', () => {
  const titles = ['Remove', 'remove', 'Read\u202e a page'].map((display_name) => requestOf('a', { display_name }))
  const requests = waitingCallsOf(
    turnWith(titles.map((each, at) => ({ ...each, tool_call_id: `${at}` }) as PacketBody)),
    true,
  )
  expect(requests.map(toolOf)).toEqual(['Remove · remove', 'remove', 'Read\\u{202e} a page · remove'])
})

test('a request expires', () => {
  const [request] = waitingCallsOf(turnWith([requestOf('a', { expires_at: '2020-01-01T00:00:00.000Z' })]), true)
  expect(isExpired(request!)).toBe(true)
})
