import { createStorage } from 'unstorage'
import { describe, expect, test } from 'vitest'
import type { ActionSource, ActionTurn } from '@inlay/agent'
import type { Script } from '@inlay/agent/testing'
import type { StreamLine } from '@inlay/protocol'
import { arriving, incoming } from '../../conversations/files/setting.ts'
import { ana, ben, newSetting, readAll, type Setting } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const calls = (input: Record<string, unknown> = {}): Script => {
  return (_call, index) => (index % 2 === 0 ? [{ call: { name: 'look', input } }] : ['Done.'])
}

async function uploaded({ agent }: Setting, name: string, text: string, caller = ana): Promise<string> {
  const { files } = await agent.files.upload(arriving(incoming(name, text)), { caller })
  return files[0]!.id
}

function sessionOf(lines: readonly StreamLine[]): string {
  const first = lines[0]
  return first && 'chat_session_id' in first ? first.chat_session_id : ''
}

const turnOf = (action: { readonly calls: readonly { readonly turn: ActionTurn }[] }): ActionTurn =>
  action.calls.at(-1)!.turn

describe('what an action sees of its turn', () => {
  test('the conversation so far as text, without citations and tools', async () => {
    const look = scriptedAction({ id: 7, name: 'look' })
    const fixture = await newSetting(calls(), { actions: [look] })
    const lines = await fixture.lines({ message: 'First?' })
    expect(turnOf(look).messages).toEqual([])
    await fixture.lines({ message: 'Second?', chat_session_id: sessionOf(lines) })
    expect(turnOf(look).messages).toEqual([
      { role: 'user', text: 'First?' },
      { role: 'assistant', text: 'Done.' },
    ])
  })

  test('headers that were let pass', async () => {
    const look = scriptedAction({ id: 7, name: 'look' })
    const { agent } = await newSetting(calls(), { actions: [look] })
    const { toRequest } = await import('../setting.ts')
    await (await agent.send(toRequest(), { caller: ana, headers: { 'x-tenant': 'acme' } })).whole()
    expect(turnOf(look).headers).toEqual({ 'x-tenant': 'acme' })
  })

  test('a way to ask the model, whose cost counts with the answer', async () => {
    const look = scriptedAction({
      id: 7,
      name: 'look',
      result: async (_input, turn) => ({ text: (await turn.ask?.({ instructions: 'Say A.', text: 'Q' })) ?? '' }),
    })
    const script: Script = [[{ call: { name: 'look', input: {} } }], ['A'], ['Done.']]
    const fixture = await newSetting(script, { actions: [look] })
    const lines = await fixture.lines({ include_usage: true })
    expect(fixture.model.requests).toHaveLength(3)
    expect(lines.at(-1)).toMatchObject({ obj: { type: 'stop', usage: { input_tokens: 30, output_tokens: 15 } } })
  })

  test('files of all messages of the branch, and those it made itself', async () => {
    const seen: string[][] = []
    const look = scriptedAction({
      id: 7,
      name: 'look',
      result: async (_input, { files }) => {
        seen.push((await files!.list()).map(({ name }) => name))
        const kept = await files!.keep(incoming('made.csv', 'a,b'))
        seen.push((await files!.list()).map(({ name }) => name))
        return { text: (await files!.read(kept.fileId)).map(({ text }) => text).join() }
      },
    })
    const fixture = await newSetting(calls(), { actions: [look], storage: createStorage() })
    const first = await uploaded(fixture, 'first.md', 'One.')
    const second = await uploaded(fixture, 'second.md', 'Two.')
    const lines = await fixture.lines({ file_descriptors: [{ id: first }] })
    await fixture.lines({ chat_session_id: sessionOf(lines), file_descriptors: [{ id: second }] })
    expect(seen).toEqual([
      ['first.md'],
      ['first.md', 'made.csv'],
      ['second.md', 'first.md'],
      ['second.md', 'first.md', 'made.csv'],
    ])
    expect(look.calls).toHaveLength(2)
  })

  test('no file that belongs to somebody else, to another chat or to nobody', async () => {
    const codes: unknown[] = []
    let ids: string[] = []
    const look = scriptedAction({
      id: 7,
      name: 'look',
      result: async (_input, { files }) => {
        for (const id of ids) {
          codes.push(
            await files!.read(id).then(
              () => 'read',
              (error: { code: string }) => error.code,
            ),
          )
          codes.push(
            await files!.open(id).then(
              () => 'opened',
              (error: { code: string }) => error.code,
            ),
          )
        }
        return { text: 'done' }
      },
    })
    const fixture = await newSetting(calls(), { actions: [look], storage: createStorage() })
    ids = [
      await uploaded(fixture, 'own.md', 'Elsewhere.'),
      await uploaded(fixture, 'secret.md', 'Ben.', ben),
      'unknown',
    ]
    await fixture.lines()
    expect(codes).toEqual(Array.from({ length: 6 }, () => 'NOT_FOUND'))
  })
})

describe('read_file', () => {
  const offered = async (created: Setting, input: Parameters<Setting['lines']>[0] = {}) => {
    const lines = await created.lines(input)
    return { names: created.model.requests.at(-1)?.tools?.map(({ name }) => name) ?? [], session: sessionOf(lines) }
  }

  test('is offered once a file came with a message of the chat, unless the request allows nothing', async () => {
    const fixture = await newSetting(() => ['Fine.'], { storage: createStorage() })
    const id = await uploaded(fixture, 'leave.md', '25 days.')
    const plain = await offered(fixture)
    expect(plain.names).toEqual([])
    expect((await offered(fixture, { chat_session_id: plain.session })).names).toEqual([])
    const files = { chat_session_id: plain.session, file_descriptors: [{ id }] }
    expect((await offered(fixture, files)).names).toEqual(['read_file'])
    expect((await offered(fixture, { chat_session_id: plain.session })).names).toEqual(['read_file'])
    expect((await offered(fixture, { ...files, allowed_tool_ids: [] })).names).toEqual([])
  })

  test('gives the text of an attached file', async () => {
    const script: Script = (_call, index) =>
      index === 0 ? [{ call: { name: 'read_file', input: { file_id: 'leave.md' } } }] : ['25.']
    const fixture = await newSetting(script, { storage: createStorage() })
    const id = await uploaded(fixture, 'leave.md', 'You get 25 days.')
    await fixture.lines({ file_descriptors: [{ id }] })
    expect(JSON.stringify(fixture.model.requests[1]?.prompt)).toContain('You get 25 days.')
  })
})

describe('actions of a source', () => {
  test('several functions of one forced tool: the first step offers just those and requires a call', async () => {
    const functions = ['list_pets', 'add_pet'].map((name) =>
      scriptedAction({ id: 1_001, name, result: { text: name } }),
    )
    const source: ActionSource = { list: async () => functions, holds: async (id) => id === 1_001 }
    const script: Script = [['Not yet.'], [{ call: { name: 'add_pet', input: {} } }], ['Added.']]
    const other = scriptedAction({ id: 7, name: 'other' })
    const fixture = await newSetting(script, { actionSources: [source], actions: [other] })
    const run = await fixture.send({ forced_tool_id: 1_001 })
    const lines = await readAll(run)
    expect(fixture.model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['list_pets', 'add_pet'])
    expect(fixture.model.requests[0]?.toolChoice).toEqual({ type: 'required' })
    expect(fixture.model.requests[2]?.tools).toHaveLength(3)
    expect(functions[1]?.calls).toHaveLength(1)
    expect(lines.at(-1)).toMatchObject({ obj: { type: 'stop' } })
  })

  test('hear the remote headers of the request, and can be named in an agent', async () => {
    const requests: unknown[] = []
    const tool = scriptedAction({ id: 1_001, name: 'remote' })
    const source: ActionSource = {
      list: async ({ mcpHeaders }) => (requests.push(mcpHeaders), [tool]),
      holds: async (id) => id === 1_001,
    }
    const fixture = await newSetting(() => ['Fine.'], { actionSources: [source] })
    await fixture.lines({ mcp_headers: { 'x-token': 't' } })
    expect(requests).toEqual([{ 'x-token': 't' }])
    const fields = {
      name: 'A',
      description: '',
      document_set_ids: [],
      system_prompt: '',
      task_prompt: '',
      datetime_aware: true,
    }
    await expect(fixture.agent.personas.create({ ...fields, tool_ids: [1_001] }, ana)).resolves.toMatchObject({
      actionIds: [1_001],
    })
    await expect(fixture.agent.personas.create({ ...fields, tool_ids: [1_002] }, ana)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })
})
