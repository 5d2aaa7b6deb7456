import { expect, test } from 'vitest'
import { scriptedModel } from '@inlay/agent/testing'
import { ana, ben, inShort, newSetting, packetsOf, providerOf } from '../../agent/setting.ts'

const keep = (memory: string, more: object = {}) => [{ call: { name: 'add_memory', input: { memory, ...more } } }]

const promptOf = (model: { requests: readonly { prompt: unknown }[] }, at: number): string =>
  JSON.stringify(model.requests[at]?.prompt)
const toolsOf = (model: { requests: readonly { tools?: readonly { name: string }[] }[] }, at: number): string[] =>
  (model.requests[at]?.tools ?? []).map(({ name }) => name)

test('what a model keeps is told to clients, and to the model in later conversations of that person alone', async () => {
  const { lines, model, send } = await newSetting([keep('Works in optics.'), ['Noted.'], ['Hello.'], ['Hello.']], {
    memories: true,
  })
  const packets = packetsOf(await lines())
  expect(packets.map(inShort)).toEqual([
    '0.0 memory_tool_start',
    '0.0 memory_tool_delta',
    '0.0 section_end',
    '1.0 message_start null',
    '1.0 message_delta "Noted."',
    '1.0 stop null',
  ])
  expect(packets[1]?.obj).toEqual({
    type: 'memory_tool_delta',
    memory_text: 'Works in optics.',
    operation: 'add',
    memory_id: null,
    index: null,
  })
  expect(promptOf(model, 0)).not.toContain('Works in optics.')
  await lines()
  expect(promptOf(model, 2)).toContain('Works in optics.')
  await (await send({}, { caller: ben })).whole()
  expect(promptOf(model, 3)).not.toContain('optics')
})

test('a person may have nothing told, nothing kept, or neither', async () => {
  const { lines, model, agent } = await newSetting([['Hello.'], ['Hello.'], ['Hello.']], { memories: true })
  await agent.memories.add('Works in optics.', ana)
  await agent.memories.update({ usesMemories: false }, ana)
  await lines()
  expect([promptOf(model, 0).includes('optics'), toolsOf(model, 0)]).toEqual([false, ['add_memory']])
  await agent.memories.update({ usesMemories: true, keepsMemories: false }, ana)
  await lines()
  expect([promptOf(model, 1).includes('optics'), toolsOf(model, 1)]).toEqual([true, []])
})

test('a request without actions has none for memories either', async () => {
  const { lines, model } = await newSetting([keep('Works in optics.'), ['Hello.'], ['Hello.']], { memories: true })
  await lines({ allowed_tool_ids: [] })
  await lines({ allowed_tool_ids: [1] })
  expect([toolsOf(model, 0), toolsOf(model, 1)]).toEqual([[], []])
})

test('an agent with actions of its own keeps memories too, and can be made to by force', async () => {
  const { lines, model, agent } = await newSetting([keep('Has a dog.'), ['Noted.']], { memories: true })
  const { id } = await agent.personas.create(
    {
      name: 'Ada',
      description: '',
      system_prompt: '',
      task_prompt: '',
      tool_ids: [],
      document_set_ids: [],
      datetime_aware: true,
    },
    ana,
  )
  await lines({ chat_session_info: { persona_id: id }, forced_tool_id: 7 })
  expect(toolsOf(model, 0)).toEqual(['add_memory'])
  expect((await agent.memories.get(ana)).memories).toMatchObject([{ content: 'Has a dog.' }])
})

test('a model that only quotes documents is told nothing about people', async () => {
  const model = scriptedModel([['Hello.']])
  const { lines, agent } = await newSetting([], { memories: true, models: providerOf(model, { quotesOnly: true }) })
  await agent.memories.add('Works in optics.', ana)
  await lines()
  expect(promptOf(model, 0)).not.toContain('optics')
})

test('a host may have no memories at all', async () => {
  const { lines, model } = await newSetting([['Hello.']], { memories: false })
  await lines()
  expect(toolsOf(model, 0)).toEqual([])
})
