import { describe, expect, test } from 'vitest'
import { scriptedModel } from '@inlay/agent/testing'
import { InlayError } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import {
  ana,
  ben,
  findsAlways,
  inShort,
  newDatabase,
  newPassage,
  newSetting,
  providerOf,
  readAll,
  toRequest,
} from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const search = findsAlways(newPassage('leave', '28 days'))
const echo = (text: string) => [[text]]

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (error as InlayError).code,
  )
}

describe('what can be known before a run rejects, and nothing is stored', () => {
  const unknown = '7b0e4b3e-6c6f-4a54-9a0b-0f2f5a6d1c11'
  test.each([
    ['an unknown session', { chat_session_id: unknown }, 'SESSION_NOT_FOUND'],
    ['a parent of no session', { parent_message_id: 99 }, 'VALIDATION_ERROR'],
    ['a forced action that does not exist', { forced_tool_id: 99 }, 'VALIDATION_ERROR'],
    ['a forced action that is not allowed', { forced_tool_id: 1, allowed_tool_ids: [] }, 'VALIDATION_ERROR'],
    ['an unknown agent', { chat_session_info: { persona_id: 4 } }, 'PERSONA_NOT_FOUND'],
    ['an unknown project', { chat_session_info: { project_id: 4 } }, 'NOT_FOUND'],
    ['an incognito session', { chat_session_info: { incognito: true } }, 'DEPLOYMENT_UNSUPPORTED'],
    ['an unknown file', { file_descriptors: [{ id: 'f' }] }, 'NOT_FOUND'],
    ['deep research by two models', { deep_research: true, llm_overrides: [{}, {}] }, 'VALIDATION_ERROR'],
    ['several models without a stream', { llm_overrides: [{}, {}], stream: false }, 'INVALID_INPUT'],
    ['four models', { llm_overrides: [{}, {}, {}, {}] }, 'VALIDATION_ERROR'],
  ])('%s', async (_title, input, code) => {
    const { send, db } = await newSetting(echo('x'), { search })
    expect(await codeOf(send(input))).toBe(code)
    const { rows } = await db
      .withTables<{ inlay_chat_messages: { id: number } }>()
      .selectFrom('inlay_chat_messages')
      .selectAll()
      .execute()
      .then((rows) => ({ rows }))
    expect(rows).toEqual([])
  })

  test('a model that does not resolve, filters that are refused', async () => {
    const refuse = async () => {
      throw new InlayError('VALIDATION_ERROR')
    }
    const { send } = await newSetting(echo('x'), { models: { resolve: refuse, list: async () => [] } })
    expect(await codeOf(send())).toBe('VALIDATION_ERROR')
    const filtered = await newSetting(echo('x'), {
      search,
      checkFilters: async () => {
        throw new InlayError('INSUFFICIENT_PERMISSIONS')
      },
    })
    expect(await codeOf(filtered.send({ internal_search_filters: { document_set: ['none'] } }))).toBe(
      'INSUFFICIENT_PERMISSIONS',
    )
  })

  test("somebody else's session", async () => {
    const { send } = await newSetting([['a'], ['b']])
    const { sessionId } = await send()
    expect(await codeOf(send({ chat_session_id: sessionId }, { caller: ben }))).toBe('SESSION_NOT_FOUND')
  })
})

describe('the branch a message continues', () => {
  test('-1 appends: the model sees what was said, a new session line is not sent', async () => {
    const { send, model } = await newSetting([['First answer.'], ['Second answer.']])
    const first = await send({ message: 'One?' })
    await first.whole()
    const second = await send({ message: 'Two?', chat_session_id: first.sessionId })
    expect((await readAll(second))[0]).toEqual({ user_message_id: 4, reserved_assistant_message_id: 5 })
    expect(said(model.requests[1]?.prompt)).toEqual(['user One?', 'assistant First answer.', 'user Two?'])
  })

  test('null starts anew, and the next -1 follows the new branch', async () => {
    const { send, model } = await newSetting([['1'], ['2'], ['3']])
    const first = await send({ message: 'One?' })
    await first.whole()
    await (await send({ message: 'Two?', chat_session_id: first.sessionId, parent_message_id: null })).whole()
    await (await send({ message: 'Three?', chat_session_id: first.sessionId })).whole()
    expect(said(model.requests[1]?.prompt)).toEqual(['user Two?'])
    expect(said(model.requests[2]?.prompt)).toEqual(['user Two?', 'assistant 2', 'user Three?'])
  })

  test('an answer off the mainline may be the parent and makes its branch the mainline', async () => {
    const { send, model } = await newSetting([['1'], ['2'], ['3'], ['4']])
    const first = await send({ message: 'One?' })
    await first.whole()
    const within = { chat_session_id: first.sessionId }
    await (await send({ ...within, message: 'Two?', parent_message_id: null })).whole()
    await (await send({ ...within, message: 'Three?', parent_message_id: first.messageId })).whole()
    await (await send({ ...within, message: 'Four?' })).whole()
    expect(said(model.requests[3]?.prompt)).toEqual([
      'user One?',
      'assistant 1',
      'user Three?',
      'assistant 3',
      'user Four?',
    ])
  })

  test('a user message as parent is answered again, whatever the request says', async () => {
    const { send, model } = await newSetting([['1'], ['2'], ['3']])
    const first = await send({ message: 'One?' })
    await first.whole()
    const within = { chat_session_id: first.sessionId }
    const again = await send({ ...within, message: 'ignored', parent_message_id: 2 })
    expect((await readAll(again))[0]).toEqual({ user_message_id: 2, reserved_assistant_message_id: 4 })
    expect(said(model.requests[1]?.prompt)).toEqual(['user One?'])
    await (await send({ ...within, message: 'Two?' })).whole()
    expect(said(model.requests[2]?.prompt)).toEqual(['user One?', 'assistant 2', 'user Two?'])
  })
})

type Prompt = Awaited<ReturnType<typeof newSetting>>['model']['requests'][number]['prompt']

/** The conversation as the model saw it, without the system message. */
function said(prompt: Prompt | undefined): string[] {
  return (prompt ?? []).flatMap((message) =>
    typeof message.content === 'string'
      ? []
      : message.content.map((part) => `${message.role} ${part.type === 'text' ? part.text : part.type}`),
  )
}

describe('actions', () => {
  const look = scriptedAction({ id: 7, name: 'look' })
  test('null allows all, a list those listed, an empty list none', async () => {
    const { send, model } = await newSetting(() => ['x'], { search, actions: [look] })
    for (const ids of [null, [7, 99], []]) await (await send({ allowed_tool_ids: ids })).whole()
    expect(model.requests.map(({ tools }) => (tools ?? []).map(({ name }) => name))).toEqual([
      ['internal_search', 'look'],
      ['look'],
      [],
    ])
  })

  test('search exists only when there are documents', async () => {
    const { agent } = await newSetting(echo('x'), { search, hasDocuments: async () => false, actions: [look] })
    expect((await agent.actions(ana)).map(({ name }) => name)).toEqual(['look'])
  })

  test('a forced action is the only one of the first step, later steps are free', async () => {
    const { send, model } = await newSetting([[{ call: { name: 'look', input: {} } }], ['Done.']], {
      search,
      actions: [look],
    })
    await (await send({ forced_tool_id: 7 })).whole()
    expect(model.requests[0]).toMatchObject({
      toolChoice: { type: 'tool', toolName: 'look' },
      tools: [{ name: 'look' }],
    })
    expect(model.requests[1]?.tools).toHaveLength(2)
    expect(model.requests[1]?.toolChoice).toEqual({ type: 'auto' })
  })

  test('a model that does not use the forced action is asked once more; nothing it said is told twice', async () => {
    const { send, model } = await newSetting(
      [['I know it already.'], ['Well. ', { call: { name: 'look', input: {} } }], ['Seen.']],
      { actions: [look] },
    )
    const lines = await readAll(await send({ forced_tool_id: 7 }))
    expect(lines.slice(2).map(inShort)).toEqual([
      '0.0 message_start null',
      '0.0 message_delta "Well. "',
      '0.1 custom_tool_start',
      '0.1 custom_tool_delta',
      '0.1 section_end',
      '1.0 message_start null',
      '1.0 message_delta "Seen."',
      '1.0 stop null',
    ])
    expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('look')
  })

  test('a model that refuses the forced action twice fails the run', async () => {
    const { send, model } = await newSetting([['No.'], ['No!']], { actions: [look] })
    const whole = await (await send({ forced_tool_id: 7 })).whole()
    expect(whole).toMatchObject({ answer: '', error_msg: expect.stringContaining('look') })
    expect(model.requests).toHaveLength(2)
  })

  test('a server that turns out to take no tools fails the run, which may not go on without the forced action', async () => {
    const observed = { refusesTools: false, contextTokens: undefined }
    const refusal = Object.assign(new Error('does not support tools'), { name: 'AI_APICallError', statusCode: 400 })
    const model = scriptedModel(() => {
      observed.refusesTools = true
      return { reject: refusal }
    })
    const { send } = await newSetting([], { actions: [look], models: providerOf(model, { observed }) })
    const whole = await (await send({ forced_tool_id: 7 })).whole()
    expect(whole).toMatchObject({ answer: '', error_msg: expect.stringContaining('takes no tools') })
    expect(model.requests).toHaveLength(1)
  })
})

describe('a model that fails before it says anything', () => {
  const busy = Object.assign(new Error('overloaded'), { name: 'AI_APICallError', statusCode: 503 })
  test('is tried again', async () => {
    const delays: number[] = []
    const { send } = await newSetting([{ reject: busy }, [{ error: busy }], ['There.']], {
      wait: async (delayMs) => void delays.push(delayMs),
    })
    expect(await (await send()).whole()).toMatchObject({ answer: 'There.', error_msg: null })
    expect(delays).toEqual([1000, 2000])
  })

  test('is given up after three tries, or at once when trying again cannot help', async () => {
    const { send, model } = await newSetting(() => ({ reject: busy }))
    expect((await (await send()).whole()).error_msg).not.toBeNull()
    expect(model.requests).toHaveLength(3)
    const wrongKey = Object.assign(new Error('no'), { name: 'AI_APICallError', statusCode: 401 })
    const other = await newSetting(() => ({ reject: wrongKey }))
    expect((await readAll(await other.send())).map(inShort).at(-1)).toBe('error line AUTH_ERROR')
    expect(other.model.requests).toHaveLength(1)
  })

  test('because the conversation is too long is tried once more with less of it', async () => {
    const long = Object.assign(new Error('maximum context length exceeded'), {
      name: 'AI_APICallError',
      statusCode: 400,
    })
    const { send, model } = await newSetting([['a '.repeat(2_000)], { reject: long }, ['Short.']])
    const first = await send({ message: 'One?' })
    await first.whole()
    const second = await send({ message: 'Two?', chat_session_id: first.sessionId })
    expect((await second.whole()).answer).toBe('Short.')
    expect(said(model.requests[2]?.prompt)).toEqual(['user Two?'])
  })
})

test('two models answer side by side, each at its own index, and one that fails does not end the other', async () => {
  const broken = Object.assign(new Error('no'), { name: 'AI_APICallError', statusCode: 401 })
  const { send } = await newSetting([['Yes.'], { reject: broken }])
  const lines = await readAll(await send({ llm_overrides: [{ display_name: 'One' }, { display_name: 'Two' }] }))
  expect(lines[1]).toEqual({
    user_message_id: 2,
    responses: [
      { message_id: 3, model_name: 'One' },
      { message_id: 4, model_name: 'Two' },
    ],
  })
  const at = (index: number) =>
    lines.filter((line) => 'obj' in line && line.placement.model_index === index).map(inShort)
  expect(at(0)).toEqual(['0.0 message_start null', '0.0 message_delta "Yes."', '0.0 stop null'])
  expect(at(1)).toEqual(['0.0 error AUTH_ERROR'])
  expect(lines.find((line) => 'error' in line)).toMatchObject({ details: { model_index: 1 } })
})

const busy = Object.assign(new Error('overloaded'), { name: 'AI_APICallError', statusCode: 503 })

describe('an idempotency key', () => {
  test('gives the same run for the same body, its lines from the first on', async () => {
    const { send, model } = await newSetting([['Once.'], ['Twice.']])
    const [first, second] = await Promise.all([
      send({ message: 'Q' }, { idempotencyKey: 'k' }),
      send({ message: 'Q' }, { idempotencyKey: 'k' }),
    ])
    expect(second.messageId).toBe(first.messageId)
    expect(await readAll(second)).toEqual(await readAll(first))
    expect(model.requests).toHaveLength(1)
  })

  test('used for another body is a conflict, used by another caller is their own', async () => {
    const { send } = await newSetting(() => ['x'])
    const first = await send({ message: 'Q' }, { idempotencyKey: 'k' })
    expect(await codeOf(send({ message: 'R' }, { idempotencyKey: 'k' }))).toBe('CONFLICT')
    expect((await send({ message: 'R' }, { idempotencyKey: 'k', caller: ben })).messageId).not.toBe(first.messageId)
  })

  test('outlives the process: the stored lines are read again', async () => {
    const db = await newDatabase()
    const before = await newSetting([[{ call: { name: 'internal_search', input: { queries: ['q'] } } }], ['28 [1].']], {
      db,
      search,
    })
    const run = await before.send({ message: 'Q' }, { idempotencyKey: 'k' })
    const [lines, whole] = [await readAll(run), await run.whole()]
    await before.agent.close()
    const after = await newSetting([['never']], { db, search })
    const again = await after.send({ message: 'Q' }, { idempotencyKey: 'k' })
    expect(await readAll(again)).toEqual(lines)
    expect(await again.whole()).toEqual(whole)
    expect(after.model.requests).toEqual([])
  })

  test('used for another body is a conflict after a restart, too', async () => {
    const db = await newDatabase()
    const before = await newSetting([['Once.']], { db })
    await (await before.send({ message: 'Q' }, { idempotencyKey: 'k' })).whole()
    await before.agent.close()
    const after = await newSetting([['never']], { db })
    expect(await codeOf(after.send({ message: 'R' }, { idempotencyKey: 'k' }))).toBe('CONFLICT')
    expect(after.model.requests).toEqual([])
  })

  test('is forgotten after 24 hours', async () => {
    const { send, clock } = await newSetting(() => ['x'])
    const first = await send({ message: 'Q' }, { idempotencyKey: 'k' })
    await first.whole()
    clock.time += 86_400_000
    expect((await send({ message: 'Q' }, { idempotencyKey: 'k' })).messageId).not.toBe(first.messageId)
  })
  test('starts a new run for the same question when the first failed in a way that may pass', async () => {
    const db = await newDatabase()
    const first = await newSetting([['half', { cut: busy }], ['Whole.']], { db })
    const run = await first.send({ message: 'Q' }, { idempotencyKey: 'k' })
    expect((await readAll(run)).map(inShort).at(-1)).toBe('error line SERVICE_UNAVAILABLE')
    const again = await first.send({ message: 'Q' }, { idempotencyKey: 'k' })
    expect((await readAll(again)).map(inShort)).toEqual([
      'line chat_session_id incognito',
      'line user_message_id reserved_assistant_message_id',
      '0.0 message_start null',
      '0.0 message_delta "Whole."',
      '0.0 stop null',
    ])
    expect(again.sessionId).toBe(run.sessionId)
    expect((await first.send({ message: 'Q' }, { idempotencyKey: 'k' })).messageId).toBe(again.messageId)
    await first.agent.close()
    const after = await newSetting([['never']], { db })
    expect((await (await after.send({ message: 'Q' }, { idempotencyKey: 'k' })).whole()).answer).toBe('Whole.')
  })

  test('starts a new run after a restart that cut the first one off', async () => {
    const db = await newDatabase()
    const first = await newSetting([['half', { hang: true }]], { db })
    const run = await first.send({ message: 'Q' }, { idempotencyKey: 'k' })
    await first.agent.close()
    const after = await newSetting([['Whole.']], { db })
    const again = await after.send({ message: 'Q' }, { idempotencyKey: 'k' })
    expect((await again.whole()).answer).toBe('Whole.')
    expect([again.sessionId, again.messageId > run.messageId]).toEqual([run.sessionId, true])
  })

  test('keeps the run of a failure that would come again', async () => {
    const wrongKey = Object.assign(new Error('no'), { name: 'AI_APICallError', statusCode: 401 })
    const { send } = await newSetting([[{ cut: wrongKey }], ['Whole.']])
    const run = await send({ message: 'Q' }, { idempotencyKey: 'k' })
    await run.whole()
    expect((await send({ message: 'Q' }, { idempotencyKey: 'k' })).messageId).toBe(run.messageId)
  })
})

test('additional context stands beside the message and is not kept', async () => {
  const { send, model } = await newSetting([['a'], ['b']])
  const first = await send({ message: 'One?', additional_context: 'The page is about bees.' })
  await first.whole()
  await (await send({ message: 'Two?', chat_session_id: first.sessionId })).whole()
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain('bees')
  expect(JSON.stringify(model.requests[1]?.prompt)).not.toContain('bees')
})

test('a closed agent refuses', async () => {
  const { agent } = await newSetting(echo('x'))
  await agent.close()
  expect(await codeOf(agent.send(toRequest(), { caller: ana }))).toBe('CLOSED')
})

test('closing waits for a send on its way, and ends the run that it becomes', async () => {
  const [checking, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { agent, send } = await newSetting([['half', { hang: true }]], {
    search,
    checkFilters: async () => {
      checking.resolve()
      await gate.promise
    },
  })
  const sent = send({ internal_search_filters: { document_set: ['any'] } })
  await checking.promise
  const events: string[] = []
  const closed = agent.close().then(() => events.push('closed'))
  for (let turn = 0; turn < 20; turn++) await yieldToEventLoop()
  events.push('released')
  gate.resolve()
  const run = await sent
  await closed
  expect(events).toEqual(['released', 'closed'])
  expect((await readAll(run)).map(inShort).at(-1)).toMatch(/error line|stop/)
})
