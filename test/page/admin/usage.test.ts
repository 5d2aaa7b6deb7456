import type { UsageEntry } from '@inlay/protocol/administration'
import { expect, test } from 'vitest'
import { exampleOf, headersOf } from '../../../packages/page/src/admin/actions.tsx'
import { groupsOf } from '../../../packages/page/src/admin/packets.tsx'
import { sumsBy } from '../../../packages/page/src/admin/usage.tsx'

const entry = (fields: Partial<UsageEntry>): UsageEntry => ({
  user_id: 'u1',
  name: 'ann',
  email: null,
  model_provider: 'openai',
  model_version: 'a',
  answers: 1,
  failed: 0,
  counted: 1,
  input_tokens: 1_000_000,
  output_tokens: 500_000,
  seconds: 2,
  ...fields,
})

test('usage is summed up, and costs what its models cost', () => {
  const entries = [entry({}), entry({ user_id: 'u2', answers: 5 }), entry({ model_version: 'b', answers: 2 })]
  const prices = { 'openai/a': { input: 2, output: 10 } }
  const sums = sumsBy(entries, ({ user_id: id }) => id, prices)
  expect(sums.map(({ name, answers, input, cost }) => [name, answers, input, cost])).toEqual([
    ['u2', 5, 1_000_000, 7],
    // The model without a price counts nothing.
    ['u1', 3, 2_000_000, 7],
  ])
  expect(sumsBy(entries, () => 'all', {})[0]?.cost).toBeNull()
})

test('two people of one name are two, each called by it', () => {
  const entries = [entry({ answers: 3 }), entry({ user_id: 'u2' }), entry({ user_id: 'u3', email: 'eve@b.example' })]
  const sums = sumsBy(
    entries,
    ({ user_id: id }) => id,
    {},
    ({ email, name }) => email ?? name,
  )
  expect(sums.map(({ name, answers }) => [name, answers])).toEqual([
    ['ann', 3],
    ['ann', 1],
    ['eve@b.example', 1],
  ])
})

test('arguments to fill in are those that are required', () => {
  const parameters = {
    properties: { id: { type: 'integer' }, state: { enum: ['open', 'sent'] }, note: { type: 'string' } },
    required: ['id', 'state'],
  }
  expect(JSON.parse(exampleOf({ parameters }))).toEqual({ id: 0, state: 'open' })
  expect(JSON.parse(exampleOf({ parameters: {} }))).toEqual({})
})

test('headers are read line by line', () => {
  expect(headersOf(['Authorization: Bearer a:b'])).toEqual([{ key: 'Authorization', value: 'Bearer a:b' }])
  expect(() => headersOf(['no header'])).toThrow('Name: value')
})

test('pieces of a text that follow each other are one entry', () => {
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null }
  const piece = { placement, obj: { type: 'message_delta', content: 'a' } } as const
  const groups = groupsOf([{ user_message_id: 1, reserved_assistant_message_id: 2 }, piece, piece])
  expect(groups.map(({ type, first, lines }) => [type, first, lines.length])).toEqual([
    ['user_message_id', 1, 1],
    ['message_delta', 2, 2],
  ])
})
