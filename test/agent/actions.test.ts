import { expect, test } from 'vitest'
import { createActions } from '../../packages/agent/src/actions.ts'
import { scriptedAction } from '../../packages/agent/src/testing.ts'
import { ana } from './setting.ts'

const one = scriptedAction({ id: 7, name: 'one' })
const two = scriptedAction({ id: 3, name: 'two' })

test('lists actions by id, search first when there is something to search', async () => {
  const actions = createActions({ search: async () => [], hasDocuments: async () => true, actions: [one, two] })
  expect((await actions.available(ana)).map(({ id, name }) => [id, name])).toEqual([
    [1, 'internal_search'],
    [3, 'two'],
    [7, 'one'],
  ])
})

test('zero forces nothing', async () => {
  const actions = createActions({ hasDocuments: async () => true, actions: [one] })
  expect(await actions.choose(ana, { allowedIds: null, forcedId: 0 })).toMatchObject({ actions: [{ id: one.id }] })
})

test('ids and names are unique and fit for a model', () => {
  const make =
    (...some: (typeof one)[]) =>
    () =>
      createActions({ search: async () => [], hasDocuments: async () => true, actions: some })
  expect(make(one, { ...two, id: 7 })).toThrow(/share/)
  expect(make(one, { ...two, name: 'one' })).toThrow(/share/)
  expect(make({ ...one, id: 1 })).toThrow(/share/)
  expect(make({ ...one, name: 'look up' })).toThrow(/name/)
  expect(make({ ...one, id: 0 })).toThrow(/id/)
})
