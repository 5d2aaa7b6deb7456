import { describe, expect, test } from 'vitest'
import { createMemories, type SqlMemories } from '@inlay/conversations/internal/memories/manage-memories'
import type { ConversationDatabase } from '@inlay/conversations/internal/tables/database'
import { ana, ben, codeOf, newDatabase } from '../../agent/setting.ts'
import { nobody } from './nobody.ts'

async function newMemories({ isOn = true } = {}): Promise<{ memories: SqlMemories; clock: { time: number } }> {
  const clock = { time: 1_000 }
  // Migrated with the agent's tables.
  const db = (await newDatabase()) as unknown as ConversationDatabase
  return { clock, memories: createMemories({ db, now: () => clock.time++, isOn }) }
}

const contents = async (memories: SqlMemories, caller = ana): Promise<string[]> =>
  (await memories.get(caller)).memories.map(({ content }) => content)

describe('what a person sets', () => {
  test('has its defaults until then: memories are told and may be kept', async () => {
    const { memories } = await newMemories()
    expect(await memories.get(ana)).toEqual(nobody)
  })

  test('changes field by field, for this person alone', async () => {
    const { memories } = await newMemories()
    await memories.update({ name: ' Ana ', usesMemories: false }, ana)
    await memories.update({ role: 'Optician', preferences: 'Short, please.' }, ana)
    expect(await memories.get(ana)).toMatchObject({
      name: 'Ana',
      role: 'Optician',
      preferences: 'Short, please.',
      usesMemories: false,
      keepsMemories: true,
    })
    expect(await memories.get(ben)).toMatchObject({ name: '', usesMemories: true })
  })

  test('has bounds', async () => {
    const { memories } = await newMemories()
    expect(await codeOf(memories.update({ name: 'x'.repeat(201) }, ana))).toBe('INVALID_INPUT')
    expect(await codeOf(memories.update({ preferences: 'x'.repeat(2_001) }, ana))).toBe('INVALID_INPUT')
  })
})

describe('memories', () => {
  test('are added, edited and removed one by one, and forgotten at once', async () => {
    const { memories } = await newMemories()
    const first = await memories.add('  Works in\n optics. ', ana)
    expect(first).toEqual({ id: expect.any(Number), content: 'Works in optics.', createdAt: 1000, updatedAt: 1000 })
    const second = await memories.add('Likes tables.', ana)
    expect(await memories.edit(first.id, 'Works in lasers.', ana)).toMatchObject({ createdAt: 1000, updatedAt: 1002 })
    expect(await contents(memories)).toEqual(['Likes tables.', 'Works in lasers.'])
    await memories.remove(second.id, ana)
    expect(await contents(memories)).toEqual(['Works in lasers.'])
    await memories.clear(ana)
    expect(await contents(memories)).toEqual([])
  })

  test('belong to one person: nobody else sees, edits or removes them', async () => {
    const { memories } = await newMemories()
    const { id } = await memories.add('Works in optics.', ana)
    await memories.add('Sells bread.', ben)
    expect(await contents(memories, ben)).toEqual(['Sells bread.'])
    expect(await codeOf(memories.edit(id, 'Works for ben.', ben))).toBe('NOT_FOUND')
    expect(await codeOf(memories.remove(id, ben))).toBe('NOT_FOUND')
    expect(await codeOf(memories.keep('Works for ben.', id, ben))).toBe('NOT_FOUND')
    await memories.update({ memories: [{ id, content: 'Works for ben.' }] }, ben)
    await memories.clear(ben)
    expect(await contents(memories)).toEqual(['Works in optics.'])
    for (const wrong of [0, -1, 1.5, 2 ** 40]) expect(await codeOf(memories.remove(wrong, ana))).toBe('NOT_FOUND')
  })

  test('are short, and a hundred at most', async () => {
    const { memories } = await newMemories()
    for (const content of ['', '  \n', 'x'.repeat(501), '\0'])
      expect(await codeOf(memories.add(content, ana))).toBe('INVALID_INPUT')
    for (let count = 0; count < 100; count++) await memories.add(`Fact ${count}.`, ana)
    expect(await codeOf(memories.add('One more.', ana))).toBe('INVALID_INPUT')
    expect(await codeOf(memories.keep('One more.', null, ana))).toBe('INVALID_INPUT')
    expect((await memories.keep('FACT 7', null, ana)).operation).toBe('update')
    expect(await contents(memories)).toHaveLength(100)
  })

  test('are listed newest first, those of one list in its order', async () => {
    const { memories } = await newMemories()
    await memories.add('First.', ana)
    await memories.keep('Second.', null, ana)
    const old = (await memories.get(ana)).memories
    const added = ['Fourth.', 'Third.'].map((content) => ({ id: null, content }))
    await memories.update({ memories: [...added, ...old] }, ana)
    expect(await contents(memories)).toEqual(['Fourth.', 'Third.', 'Second.', 'First.'])
  })

  test('can be replaced as a list: known ids are edited, others added, the rest goes', async () => {
    const { memories } = await newMemories()
    const kept = await memories.add('Stays.', ana)
    const edited = await memories.add('Is edited.', ana)
    await memories.add('Goes.', ana)
    const after = await memories.update(
      {
        memories: [
          { id: kept.id, content: 'Stays.' },
          { id: edited.id, content: 'Was edited.' },
          { id: null, content: 'Is new.' },
        ],
      },
      ana,
    )
    expect(after.memories.map(({ content }) => content)).toEqual(['Is new.', 'Was edited.', 'Stays.'])
    expect(after.memories[2]).toEqual(kept)
    const tooMany = Array.from({ length: 101 }, (_, at) => ({ id: null, content: `Fact ${at}.` }))
    expect(await codeOf(memories.update({ memories: tooMany }, ana))).toBe('INVALID_INPUT')
    expect(await contents(memories)).toHaveLength(3)
  })
})

describe('what a model wants kept', () => {
  test('is added, takes the place of the memory it names, or of one that says the same', async () => {
    const { memories } = await newMemories()
    const { memory } = await memories.keep('Works in optics.', null, ana)
    expect(await memories.keep('Has a dog.', null, ana)).toMatchObject({ operation: 'add', index: null })
    expect(await memories.keep('Works in lasers.', memory.id, ana)).toEqual({
      memory: { ...memory, content: 'Works in lasers.', updatedAt: 1002 },
      operation: 'update',
      index: 1,
    })
    expect(await memories.keep('has a DOG', null, ana)).toMatchObject({ operation: 'update', index: 0 })
    expect(await contents(memories)).toEqual(['has a DOG', 'Works in lasers.'])
    expect(await codeOf(memories.keep('Has a cat.', 999, ana))).toBe('NOT_FOUND')
  })

  test('is not wanted from a person who said so, or where the host says so', async () => {
    const { memories } = await newMemories()
    expect(await memories.mayKeep(ana)).toBe(true)
    await memories.update({ keepsMemories: false }, ana)
    expect([await memories.mayKeep(ana), await memories.mayKeep(ben)]).toEqual([false, true])
    const { memories: off } = await newMemories({ isOn: false })
    expect(await off.mayKeep(ana)).toBe(false)
  })
})

test('the model is told nothing that is kept once the person says so', async () => {
  const { memories } = await newMemories()
  await memories.add('Works in optics.', ana)
  await memories.update({ name: 'Ana' }, ana)
  expect((await memories.person(ana)).memories).toHaveLength(1)
  await memories.update({ usesMemories: false }, ana)
  expect(await memories.person(ana)).toMatchObject({ name: 'Ana', memories: [] })
})

test('where the host has no memories there are none, and none can be made', async () => {
  const { memories } = await newMemories({ isOn: false })
  expect(await memories.get(ana)).toMatchObject({ usesMemories: false, keepsMemories: false, memories: [] })
  expect(await codeOf(memories.add('Works in optics.', ana))).toBe('DEPLOYMENT_UNSUPPORTED')
  expect(await codeOf(memories.update({ memories: [] }, ana))).toBe('DEPLOYMENT_UNSUPPORTED')
  expect(await memories.update({ name: 'Ana' }, ana)).toMatchObject({ name: 'Ana' })
})
