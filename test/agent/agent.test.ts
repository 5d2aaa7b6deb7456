import { createAgent, type Agent, type AgentOptions } from '@inlay/agent'
import { scriptedModel, type Script } from '@inlay/agent/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { incoming } from '../conversations/files/setting.ts'
import { inMemoryFiles, inMemoryMemories } from './in-memory-library.ts'
import {
  ana,
  ben,
  codeOf,
  findsAlways,
  inShort,
  newPassage,
  newSetting,
  providerOf,
  readAll,
  toRequest,
} from './setting.ts'
import { scriptedAction } from './scripted-action.ts'

test('a plain answer in a new session', async () => {
  const { lines } = await newSetting([['Hello', '! How can', ' I help?']])
  expect((await lines()).map(inShort)).toEqual([
    'line chat_session_id incognito',
    'line user_message_id reserved_assistant_message_id',
    '0.0 message_start null',
    '0.0 message_delta "Hello"',
    '0.0 message_delta "! How can"',
    '0.0 message_delta " I help?"',
    '0.0 stop null',
  ])
})

/** The engine alone, with a model that follows a script. */
function mount(script: Script, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script)
  const searchHelp = { expand: false } as const
  const agent: Agent = createAgent({ models: providerOf(model), searchHelp, ...options })
  onTestFinished(() => agent.close())
  return { agent, model }
}

describe('the engine over stores in memory', () => {
  test('answers a message with a tool, and goes on with what it found', async () => {
    const look = scriptedAction({ id: 50, name: 'look', result: { text: 'A heron.' } })
    const { agent, model } = mount(
      [[{ call: { name: 'look', input: { at: 'the reeds' } } }], ['It is a heron.'], ['Grey.']],
      { actions: [look] },
    )
    const run = await agent.send(toRequest({ message: 'What is in the reeds?' }), { caller: ana })
    expect((await readAll(run)).map(inShort).slice(2)).toEqual([
      '0.0 custom_tool_start',
      '0.0 custom_tool_args',
      '0.0 custom_tool_delta',
      '0.0 section_end',
      '1.0 message_start null',
      '1.0 message_delta "It is a heron."',
      '1.0 stop null',
    ])
    expect(look.calls[0]?.input).toEqual({ at: 'the reeds' })
    const next = toRequest({ message: 'Which colour?', chat_session_id: run.sessionId })
    expect((await (await agent.send(next, { caller: ana })).whole()).answer).toBe('Grey.')
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain('A heron.')
    expect(await codeOf(agent.send(next, { caller: ben }))).toBe('SESSION_NOT_FOUND')
  })

  test('searches and cites', async () => {
    const search = findsAlways(newPassage('leave', '28 days'))
    const script = [[{ call: { name: 'internal_search', input: { queries: ['leave'] } } }], ['28 days [1].']]
    const { agent } = mount(script, { search })
    const run = await agent.send(toRequest(), { caller: ana })
    expect(await run.whole()).toMatchObject({
      answer: '28 days [[1]](https://wiki.example/leave).',
      citation_info: [{ citation_number: 1, document_id: 'leave' }],
    })
  })

  test('repeats a send under its key', async () => {
    const { agent, model } = mount([['Once.'], ['Twice.']])
    const send = () => agent.send(toRequest({ message: 'Q' }), { caller: ana, idempotencyKey: 'k' })
    const [first, second] = [await send(), await send()]
    expect([second.messageId, (await second.whole()).answer]).toEqual([first.messageId, 'Once.'])
    expect(model.requests).toHaveLength(1)
  })

  test('reads files and remembers, where it is given a store for them', async () => {
    const services = { now: () => 1_000, newId: () => crypto.randomUUID() }
    const fileStore = inMemoryFiles(services)
    const memoryStore = inMemoryMemories(services)
    const { id } = await fileStore.keep(incoming('notes.txt', 'Two herons.', { mediaType: 'text/plain' }), ana)
    const remember = { call: { name: 'add_memory', input: { memory: 'Likes herons.' } } }
    const { agent, model } = mount([[remember], ['Noted.'], ['Herons.']], { fileStore, memoryStore })
    const descriptor = { id, type: 'plain_text', name: 'notes.txt' } as const
    await (await agent.send(toRequest({ file_descriptors: [descriptor] }), { caller: ana })).whole()
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('Two herons.')
    await (await agent.send(toRequest({ message: 'What do I like?' }), { caller: ana })).whole()
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain('Likes herons.')
  })
})
