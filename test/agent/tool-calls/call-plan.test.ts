import { expect, test } from 'vitest'
import { createCallIds } from '@inlay/agent/internal/prompt/model-steps'
import { planCalls } from '@inlay/agent/internal/tool-calls/call-plan'
import { scriptedAction } from '../scripted-action.ts'

const search = scriptedAction({ id: 1, name: 'search', mergeArgument: 'queries' })
const look = scriptedAction({ id: 2, name: 'look' })
const offered = new Map([
  ['search', search],
  ['look', look],
])
const call = (name: string, input: unknown, id = '') => ({
  id,
  name,
  input: typeof input === 'string' ? input : JSON.stringify(input),
})

test('calls of one search are merged into the first, and grouped by action', () => {
  const plan = planCalls(
    [
      call('search', { queries: ['a'], limit: 1 }, 'x'),
      call('look', {}, 'y'),
      call('search', { limit: 1, queries: ['b', 'c'], source: null, tags: [] }, 'z'),
      call('look', { far: true }, 'w'),
    ],
    offered,
  )
  expect(plan.calls.map(({ id, action, position, input }) => [id, action.name, position, input])).toEqual([
    ['x', 'search', 0, { queries: ['a', 'b', 'c'], limit: 1 }],
    ['y', 'look', 1, {}],
    ['w', 'look', 3, { far: true }],
  ])
})

test('a search that is narrowed otherwise stays apart, so that none narrows the other', () => {
  const inputs = [
    call('search', { queries: ['a'] }, 'x'),
    call('search', { queries: ['b'], sources: ['slack'] }, 'y'),
    call('search', { queries: ['c'] }, 'z'),
    call('search', { queries: ['d'], sources: ['slack'] }, 'w'),
  ]
  expect(planCalls(inputs, offered).calls.map(({ id, position, input }) => [id, position, input])).toEqual([
    ['x', 0, { queries: ['a', 'c'] }],
    ['y', 1, { queries: ['b', 'd'], sources: ['slack'] }],
  ])
})

test('a merge forgives values that are no lists, and arguments that are no JSON', () => {
  const inputs = [
    call('search', { queries: 'a' }),
    call('search', '{"queries'),
    call('search', {}),
    call('search', { queries: ['b'] }),
  ]
  expect(planCalls(inputs, offered).calls[0]?.input).toEqual({ queries: ['a', 'b'] })
  const broken = [call('search', '{'), call('search', { queries: ['b'] })]
  expect(planCalls(broken, offered).calls[0]?.input).toEqual({ queries: ['b'] })
})

test('unknown actions are set aside; no text at all means no arguments', () => {
  const plan = planCalls([call('fly', {}), call('look', ''), call('look', 'oops')], offered)
  expect(plan.unknown.map(({ name }) => name)).toEqual(['fly'])
  expect(plan.calls.map(({ input }) => input)).toEqual([{}, undefined])
})

test('every call of an answer has an id of its own', () => {
  const withIds = createCallIds()
  const first = withIds([call('look', {}, 'c'), call('look', {}, 'c'), call('look', {})])
  const second = withIds([call('look', {}, 'c')])
  const ids = [...first, ...second].map(({ id }) => id)
  expect(new Set(ids).size).toBe(4)
  expect(ids[0]).toBe('c')
})
