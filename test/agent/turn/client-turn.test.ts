import type { ClientTurn } from '@inlay/agent'
import type { Script } from '@inlay/agent/testing'
import type { Packet, SendMessageInput } from '@inlay/protocol'
import { createStorage } from 'unstorage'
import { describe, expect, test } from 'vitest'
import { arriving, incoming } from '../../conversations/files/setting.ts'
import {
  ana,
  ben,
  codeOf,
  findsAlways,
  inShort,
  newDoc,
  newPassage,
  newSetting,
  packetsOf,
  readAll,
  toRequest,
} from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const weather = {
  name: 'get_weather',
  description: 'The weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const search = { call: { name: 'internal_search', input: { queries: ['leave'] } } }
const askWeather = { call: { name: 'get_weather', input: '{ "city": "Bern" }' } }

async function mount(script: Script, options: Parameters<typeof newSetting>[1] = {}) {
  const search = findsAlways(newPassage('leave', 'Staff get 25 days of leave.'))
  const setting = await newSetting(script, { search, ...options })
  const ask = async (client: ClientTurn, input: Partial<SendMessageInput> = {}, caller = ana): Promise<Packet[]> =>
    packetsOf(await readAll(await setting.agent.send(toRequest(input), { caller, client })))
  const rows = async (): Promise<number> => {
    const messages = setting.db.withTables<{ inlay_chat_messages: { id: number } }>().selectFrom('inlay_chat_messages')
    return (await messages.select('id').execute()).length
  }
  return { ...setting, ask, rows, prompt: (call: number) => setting.model.requests[call]!.prompt }
}

const callsOf = (packets: readonly Packet[]) =>
  packets.flatMap(({ obj }) => (obj.type === 'client_tool_call' ? [obj] : []))

describe('a turn of a client that keeps its conversations', () => {
  test('reads the history of the request, and leaves nothing behind', async () => {
    const { ask, rows, prompt, agent } = await mount([['Yes, Ana.']])
    const packets = await ask({
      isStored: false,
      instructions: 'Answer as a pirate.',
      history: [
        { role: 'user', text: 'My name is Ana.' },
        { role: 'assistant', text: 'Noted.' },
      ],
    })
    expect(packets.map(inShort)).toEqual(['0.0 message_start null', '0.0 message_delta "Yes, Ana."', '0.0 stop null'])
    expect(prompt(0).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(prompt(0)[0]!.content).toMatch(/Answer as a pirate\.$/)
    expect(JSON.stringify(prompt(0))).toContain('My name is Ana.')
    expect(await rows()).toBe(0)
    expect((await agent.sessions.list(ana)).sessions).toEqual([])
  })

  test('is stored unless it says otherwise, in the session that it names', async () => {
    const { ask, agent, prompt } = await mount([['One.'], ['Two.'], ['Three.']])
    const sessionId = '11111111-2222-4333-8444-555555555555'
    const client = { sessionId, history: [] }
    await ask(client, { message: 'First?' })
    await ask(client, { message: 'Second?' })
    await ask(client, { message: 'Mine?' }, ben)
    expect(JSON.stringify(prompt(1))).not.toContain('First?')
    const { messages } = await agent.sessions.get(sessionId, ana)
    expect(messages.slice(1).map(({ text }) => text)).toEqual(['First?', 'One.', 'Second?', 'Two.'])
    expect(await codeOf(agent.sessions.get(sessionId, ben))).toBe('SESSION_NOT_FOUND')
  })

  test('gives the model its parameters, and why an answer ended in place of a note', async () => {
    const { ask, model } = await mount([['{"days":25', { finish: 'length' }]])
    const schema = { type: 'object', properties: { days: { type: 'number' } } }
    const packets = await ask({
      isStored: false,
      parameters: {
        temperature: 0.1,
        seed: 7,
        stopSequences: ['END'],
        maxOutputTokens: 50,
        responseFormat: { schema },
      },
    })
    expect(model.requests[0]).toMatchObject({
      temperature: 0.1,
      seed: 7,
      stopSequences: ['END'],
      maxOutputTokens: 50,
      responseFormat: { type: 'json', schema },
    })
    expect(packets.slice(1).map(inShort)).toEqual(['0.0 message_delta "{\\"days\\":25"', '0.0 stop length'])
  })

  test('goes on from a stored session without a trace in it', async () => {
    const { ask, rows, prompt } = await mount([['One.'], ['Two.']])
    const sessionId = '11111111-2222-4333-8444-777777777777'
    await ask({ sessionId }, { message: 'First?' })
    const before = await rows()
    await ask({ isStored: false }, { message: 'Second?', chat_session_id: sessionId })
    expect(JSON.stringify(prompt(1))).toContain('First?')
    expect(await rows()).toBe(before)
    const foreign = ask({ isStored: false }, { chat_session_id: sessionId }, ben)
    expect(await codeOf(foreign)).toBe('SESSION_NOT_FOUND')
  })

  test('sees that a limit left no room for text', async () => {
    const { ask } = await mount([[{ reasoning: 'Hm.' }, { finish: 'length' }]])
    const packets = await ask({ isStored: false, parameters: { maxOutputTokens: 5 } })
    expect(packets.map(inShort).at(-1)).toMatch(/stop length$/)
    expect(packets.filter(({ obj }) => obj.type === 'error')).toEqual([])
  })

  test('reads the files that it brings', async () => {
    const { ask, prompt, db } = await mount([['Fine.']])
    const files = [
      { id: 'f1', name: 'note.txt', mediaType: 'text/plain', bytes: new TextEncoder().encode('The code is 4711.') },
    ]
    await ask({ isStored: false, files }, { file_descriptors: [{ id: 'f1' }] })
    expect(JSON.stringify(prompt(0))).toContain('The code is 4711.')
    const stored = db.withTables<{ inlay_user_files: { id: string } }>().selectFrom('inlay_user_files').selectAll()
    await expect(
      stored.execute().then(
        ({ length }) => length,
        () => 0,
      ),
    ).resolves.toBe(0)
  })

  test('is answered by the agent that it names, in one session', async () => {
    const { ask, agent, prompt } = await mount([['One.'], ['Two.']])
    const sessionId = '11111111-2222-4333-8444-888888888888'
    await ask({ sessionId, history: [] })
    const other = { name: 'Ada', description: '', document_set_ids: [], tool_ids: [], system_prompt: 'You are Ada.' }
    const { id } = await agent.personas.create({ ...other, task_prompt: '', datetime_aware: true }, ana)
    await ask({ sessionId, history: [], personaId: id })
    const { sessions } = await agent.sessions.list(ana)
    expect(sessions.map(({ id: each }) => each)).toEqual([sessionId])
    expect([prompt(0), prompt(1)].map((each) => JSON.stringify(each).includes('You are Ada.'))).toEqual([false, true])
  })

  test('has the uploads that its history names, but those of nobody else', async () => {
    const { ask, prompt, agent } = await mount([['Fine.'], ['Fine.']], { storage: createStorage() })
    const { files } = await agent.files.upload(arriving(incoming('note.txt', 'The code is 4711.')), { caller: ana })
    const client = { isStored: false, history: [{ role: 'user', text: 'Read.', fileIds: [files[0]!.id] }] } as const
    await ask(client)
    expect(JSON.stringify(prompt(0))).toContain('The code is 4711.')
    await ask(client, {}, ben)
    expect(JSON.stringify(prompt(1))).not.toMatch(/4711|note/)
  })
})

describe('tools of a client', () => {
  test('end the answer, which goes on with their results and knows what was found before', async () => {
    const { ask, prompt, model } = await mount([[search, askWeather], ['It is sunny, and you have 25 days [1].']])
    const client = { isStored: false, history: [], tools: [weather] }
    const first = await ask(client)
    expect(first.map(inShort).slice(-3)).toEqual(['0.0 section_end', '0.1 client_tool_call', '0.0 stop tool_calls'])
    const [call] = callsOf(first)
    expect(call).toMatchObject({ tool_name: 'get_weather', arguments: '{ "city": "Bern" }' })
    expect(call!.tool_call_id).toMatch(/^call_[\w-]{1,35}$/)
    expect(model.requests[0]!.tools).toContainEqual(
      expect.objectContaining({ name: 'get_weather', inputSchema: weather.parameters }),
    )
    const result = { id: call!.tool_call_id, name: 'get_weather', arguments: '{"city":"Bern"}', result: 'sunny' }
    const second = await ask({ ...client, steps: [{ text: '', calls: [result] }] })
    expect(prompt(1).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(JSON.stringify(prompt(1).at(-1))).toMatch(/25 days of leave.*sunny/)
    expect(second.map(inShort)).toContain('0.0 citation_info 1 leave')
  })

  test('are known by their calls alone to nobody else, whose model reads what the client gives', async () => {
    const { ask, prompt } = await mount([[search, askWeather], ['Sunny.']])
    const client = { isStored: false, history: [], tools: [weather] }
    const [call] = callsOf(await ask(client))
    const result = { id: call!.tool_call_id, name: 'get_weather', arguments: '{"city":"Bern"}', result: 'sunny' }
    await ask({ ...client, steps: [{ text: 'I look.', calls: [result] }] }, {}, ben)
    expect(JSON.stringify(prompt(1))).toMatch(/I look\..*sunny/)
    expect(JSON.stringify(prompt(1))).not.toContain('25 days of leave')
  })

  test('are forced, chosen by name or left out as the client asks', async () => {
    const { ask, model } = await mount([[askWeather], ['Hello.']])
    await ask({ isStored: false, tools: [weather], toolChoice: { name: 'get_weather' } })
    await ask({ isStored: false, tools: [weather], toolChoice: 'none' })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { type: 'tool', toolName: 'get_weather' },
      undefined,
    ])
    expect(await codeOf(ask({ tools: [weather], toolChoice: { name: 'other' } }))).toBe('VALIDATION_ERROR')
  })

  test('keep the numbers of what the model read, and give none to what it did not', async () => {
    const read = [newDoc('read')]
    const look = scriptedAction({
      id: 7,
      name: 'look',
      documents: read,
      result: { text: 'It is so.', foundDocuments: [...read, newDoc('unread')] },
    })
    const script = [[{ call: { name: 'look', input: {} } }, askWeather], ['It is so [1], not so [2].']]
    const { ask } = await mount(script, { actions: [look] })
    const client = { isStored: false, history: [], tools: [weather] }
    const [call] = callsOf(await ask(client))
    const result = { id: call!.tool_call_id, name: 'get_weather', arguments: '{}', result: 'sunny' }
    const second = await ask({ ...client, steps: [{ text: '', calls: [result] }] })
    expect(second.map(inShort).filter((line) => line.includes('citation_info'))).toEqual(['0.0 citation_info 1 read'])
  })

  test('of a stored answer are shown again with it, and the next answer is another version', async () => {
    const { ask, agent } = await mount([[askWeather], ['Sunny.']])
    const sessionId = '11111111-2222-4333-8444-666666666666'
    const [call] = callsOf(await ask({ sessionId, tools: [weather] }))
    const stored = await agent.sessions.get(sessionId, ana)
    const [, question] = stored.messages
    expect(callsOf(stored.packets.flat())).toEqual([call])
    const result = { id: call!.tool_call_id, name: 'get_weather', arguments: '{}', result: 'sunny' }
    await ask(
      { tools: [weather], steps: [{ text: '', calls: [result] }] },
      { chat_session_id: sessionId, parent_message_id: question!.id },
    )
    const { messages } = await agent.sessions.get(sessionId, ana)
    expect(messages.map(({ text, parentId }) => [text, parentId]).slice(2)).toEqual([
      ['', question!.id],
      ['Sunny.', question!.id],
    ])
  })

  test('can be answered twice: what one answer finds, another does not cite', async () => {
    const docs = [newDoc('found')]
    const look = scriptedAction({ id: 7, name: 'look', documents: docs, result: { text: 'So.', foundDocuments: docs } })
    const script = [[search, askWeather], [{ call: { name: 'look', input: {} } }], ['It is [2].'], ['It is [2].']]
    const { ask } = await mount(script, { actions: [look] })
    const client = { isStored: false, history: [], tools: [weather] }
    const [call] = callsOf(await ask(client))
    const steps = [
      { text: '', calls: [{ id: call!.tool_call_id, name: 'get_weather', arguments: '{}', result: 'sunny' }] },
    ]
    const cited = async (): Promise<string[]> => {
      const packets = await ask({ ...client, steps })
      return packets.map(inShort).filter((line) => line.includes('citation_info'))
    }
    expect(await cited()).toEqual(['1.0 citation_info 1 found'])
    expect(await cited()).toEqual([])
  })
})
