import { expect, test } from 'vitest'
import { createActions, type ActionsOptions } from '@inlay/agent/internal/tool-calls/registry'
import type { Action, ActionAsker, ActionSource } from '@inlay/agent'
import type { PacketBody } from '@inlay/protocol'
import { ana, ben } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const first = scriptedAction({ id: 7, name: 'one' })
const two = scriptedAction({ id: 3, name: 'two' })
const asker: ActionAsker = { caller: ana }
const make = (options: Partial<ActionsOptions> = {}) => createActions({ builtIns: [], actions: [], ...options })
const sourceOf = (...actions: Action[]): ActionSource => ({
  list: async () => actions,
  holds: async (id) => actions.some((action) => action.id === id),
})
const namesOf = (actions: readonly Action[]) => actions.map(({ id, name }) => [id, name])

test('lists actions by id, those of the host and of sources among the built-in ones', async () => {
  const builtIns = [{ action: scriptedAction({ id: 4, name: 'four', builtIn: 'SearchTool' }) }]
  const actions = make({ builtIns, actions: [first], sources: [sourceOf(two)] })
  expect(namesOf(await actions.available(asker))).toEqual([
    [3, 'two'],
    [4, 'four'],
    [7, 'one'],
  ])
})

test('a built-in action is there for the callers who may use it now', async () => {
  const builtIns = [{ action: first, isAvailable: async ({ id }: { id: string }) => id === 'ana' }]
  const actions = make({ builtIns })
  expect(await actions.available(asker)).toHaveLength(1)
  expect(await actions.available({ caller: ben })).toEqual([])
  expect(await actions.holds(7)).toBe(true)
})

test('zero forces nothing', async () => {
  const actions = make({ actions: [first] })
  expect(await actions.choose(asker, { allowedIds: null, forcedId: 0 })).toMatchObject({
    actions: [{ id: first.id }],
    forced: [],
  })
})

test('all functions of a forced tool are forced together', async () => {
  const functions = ['read', 'write'].map((name) => scriptedAction({ id: 1_001, name, builtIn: null }))
  const actions = make({ actions: [first], sources: [sourceOf(...functions)] })
  const { forced } = await actions.choose(asker, { allowedIds: null, forcedId: 1_001 })
  expect(forced.map(({ name }) => name)).toEqual(['read', 'write'])
  await expect(actions.choose(asker, { allowedIds: [7], forcedId: 1_001 })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  })
})

test('sources are told who asks, and with which headers for remote servers', async () => {
  const requests: ActionAsker[] = []
  const source: ActionSource = { list: async (given) => (requests.push(given), []), holds: async () => false }
  await make({ sources: [source] }).available({ caller: ana, mcpHeaders: { 'x-team': 'hr' } })
  expect(requests).toEqual([{ caller: ana, mcpHeaders: { 'x-team': 'hr' } }])
})

test('a source that fails leaves the other actions, and the operator hears of it', async () => {
  const errors: unknown[] = []
  const broken: ActionSource = { list: async () => Promise.reject(new Error('gone')), holds: async () => false }
  const actions = make({ actions: [first], sources: [broken, sourceOf(two)], onError: (error) => errors.push(error) })
  expect(namesOf(await actions.available(asker))).toEqual([
    [3, 'two'],
    [7, 'one'],
  ])
  expect(errors).toMatchObject([{ message: 'gone' }])
})

test('a name that is taken gets the id behind it, also where clients read it', async () => {
  const start = { type: 'custom_tool_start', tool_name: 'one', tool_id: 1_001 } as const
  const twin = scriptedAction({ id: 1_001, name: 'one', start, packets: [start] })
  const actions = make({ actions: [first], sources: [sourceOf(twin, two)] })
  const [, , second] = await actions.available(asker)
  expect(second).toMatchObject({ id: 1_001, name: 'one_1001' })
  expect(second?.start?.()).toMatchObject({ tool_name: 'one_1001' })
  const reports: PacketBody[] = []
  await second?.run(
    {},
    {
      caller: ana,
      sessionId: 's',
      messageId: 1,
      userMessage: '',
      toolCallId: 'c',
      signal: AbortSignal.timeout(1_000),
      emit: (packet) => void reports.push(packet),
      cite: () => [],
    },
  )
  expect(reports).toMatchObject([{ tool_name: 'one_1001' }])
})

test('what a model could not use, or a fixed action already is, is left out of a source', async () => {
  const errors: unknown[] = []
  const source = sourceOf({ ...two, name: 'not a name' }, { ...two, id: 7, name: 'other' }, two)
  const actions = make({ actions: [first], sources: [source], onError: (error) => errors.push(error) })
  expect(namesOf(await actions.available(asker))).toEqual([
    [3, 'two'],
    [7, 'one'],
  ])
  expect(errors).toMatchObject([{ code: 'VALIDATION_ERROR' }, { code: 'DUPLICATE_RESOURCE' }])
})

test('ids of sources count as known, also when nothing of them can be used', async () => {
  const source: ActionSource = { list: async () => [], holds: async (id) => id === 1_001 }
  const actions = make({ sources: [source] })
  expect(await actions.holds(1_001)).toBe(true)
  expect(await actions.holds(1_002)).toBe(false)
})

test('ids and names of fixed actions are unique and fit for a model', () => {
  const builtIns = [{ action: scriptedAction({ id: 1, name: 'internal_search', builtIn: 'SearchTool' }) }]
  const making =
    (...actions: (typeof first)[]) =>
    () =>
      make({ builtIns, actions: actions })
  expect(making(first, { ...two, id: 7 })).toThrow(/share/)
  expect(making(first, { ...two, name: 'one' })).toThrow(/share/)
  expect(making({ ...first, id: 1 })).toThrow(/share/)
  expect(making({ ...first, name: 'look up' })).toThrow(/name/)
  expect(making({ ...first, id: 0 })).toThrow(/id/)
})
