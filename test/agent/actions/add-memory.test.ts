import { expect, test } from 'vitest'
import { createAddMemory } from '@inlay/agent/internal/actions/add-memory'
import { createMemories } from '@inlay/conversations/internal/memories/manage-memories'
import type { ConversationDatabase } from '@inlay/conversations/internal/tables/database'
import { newTurn } from '../action-turn.ts'
import { ana, codeOf, newDatabase } from '../setting.ts'

async function setUp() {
  const db = (await newDatabase()) as unknown as ConversationDatabase
  const memories = createMemories({ db, now: () => 1, isOn: true })
  const action = createAddMemory(memories)
  const run = async (memory: string, replaces?: number, signal?: AbortSignal) => {
    const { turn, packets } = newTurn(signal ? { signal } : {})
    const { text } = await action.run({ memory, replaces }, turn)
    return { packets, result: JSON.parse(text) as Record<string, unknown> }
  }
  return { action, memories, run }
}

test('a new memory is told to clients without its id, and to the model with it', async () => {
  const { run, memories } = await setUp()
  const { packets, result } = await run('Works in optics.')
  const values = { memory_text: 'Works in optics.', operation: 'add', index: null }
  expect(packets).toEqual([{ type: 'memory_tool_delta', ...values, memory_id: null }])
  const [kept] = (await memories.get(ana)).memories
  expect(result).toEqual({ ...values, memory_id: kept?.id })
})

test('an update names the place of the memory it replaces', async () => {
  const { run, memories } = await setUp()
  await run('Has a dog.')
  const { result } = await run('Works in optics.')
  const { packets } = await run('Works in lasers.', Number(result['memory_id']))
  expect(packets).toEqual([
    { type: 'memory_tool_delta', memory_text: 'Works in lasers.', operation: 'update', memory_id: null, index: 0 },
  ])
  expect((await memories.get(ana)).memories.map(({ content }) => content)).toEqual(['Works in lasers.', 'Has a dog.'])
})

test('an id of 0 stands for none', async () => {
  const { run } = await setUp()
  expect((await run('Has a dog.', 0)).result).toMatchObject({ operation: 'add' })
})

test('nothing is kept of a turn that was stopped', async () => {
  const { run, memories } = await setUp()
  await expect(run('Works in optics.', undefined, AbortSignal.abort())).rejects.toThrow()
  expect((await memories.get(ana)).memories).toEqual([])
})

test('a memory that is too long is refused before it runs', async () => {
  const { action, run } = await setUp()
  for (const input of [{ memory: 'x'.repeat(501) }, { memory: '' }, {}, { memory: 'a', replaces: 'b' }])
    expect((await action.input['~standard'].validate(input)).issues).toBeDefined()
  expect((await action.input['~standard'].validate({ memory: 'a', replaces: null })).issues).toBeUndefined()
  expect(await codeOf(run('Works in optics.', 77))).toBe('NOT_FOUND')
})
