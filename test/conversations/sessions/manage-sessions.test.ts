import { describe, expect, test } from 'vitest'
import { scriptedModel } from '@inlay/agent/testing'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { newGate } from '../../gate.ts'
import {
  ana,
  ben,
  codeOf,
  eventually,
  findsAlways,
  inShort,
  newPassage,
  newSetting,
  providerOf,
  readAll,
  type Setting,
} from '../../agent/setting.ts'

test('a session shows every message of every branch, and its answers again', async () => {
  const { agent, send } = await newSetting(
    [
      [{ reasoning: 'Search.' }, { call: { name: 'internal_search', input: { queries: ['q'] } } }],
      ['28 days [1].'],
      ['Thirty.'],
    ],
    { search: findsAlways(newPassage('leave', '28 days')) },
  )
  const run = await send({ message: 'How many?', chat_session_info: { description: 'Leave' } })
  await run.whole()
  await (await send({ chat_session_id: run.sessionId, parent_message_id: 2, message: 'x' })).whole()
  const session = await agent.sessions.get(run.sessionId, ana)
  expect(session).toMatchObject({ name: 'Leave', personaId: 0, isPublic: false, currentRunId: null, isDeleted: false })
  expect(
    session.messages.map(({ id, role, text, parentId, latestChildId }) => [id, role, text, parentId, latestChildId]),
  ).toEqual([
    [1, 'system', '', null, 2],
    [2, 'user', 'How many?', 1, 4],
    [3, 'assistant', '28 days [[1]](https://wiki.example/leave).', 2, null],
    [4, 'assistant', 'Thirty.', 2, null],
  ])
  expect(session.messages[2]).toMatchObject({
    citations: { 1: 'leave' },
    documents: [{ document_id: 'leave' }],
    modelDisplayName: 'Scripted',
  })
  expect(session.messages[0]?.timeSent).toBe('2026-01-12T09:30:00.000Z')
  expect(session.packets.map((packets) => packets.map(inShort))).toEqual([
    [
      '0.0 reasoning_start',
      '0.0 reasoning_delta "Search."',
      '0.0 reasoning_done',
      '1.0 search_tool_start internal',
      '1.0 search_tool_queries_delta ["q"]',
      '1.0 search_tool_documents_delta [leave]',
      '1.0 section_end',
      '2.0 message_start [leave]',
      '2.0 message_delta "28 days "',
      '2.0 citation_info 1 leave',
      '2.0 message_delta "[[1]](https://wiki.example/leave)."',
      '2.0 stop null',
    ],
    ['0.0 message_start null', '0.0 message_delta "Thirty."', '0.0 stop null'],
  ])
})

test('while an answer is made the session names its run', async () => {
  const { agent, send } = await newSetting([['a', { hang: true }]])
  const run = await send()
  const session = await agent.sessions.get(run.sessionId, ana)
  expect(session.currentRunId).toBe(run.messageId)
  expect(session.packets).toEqual([[]])
})

describe('who may see a session', () => {
  test('its owner, and all when it is public', async () => {
    const { agent } = await newSetting([])
    const { sessions } = agent
    const { id } = await sessions.create({}, ana)
    expect(await codeOf(sessions.get(id, ben))).toBe('SESSION_NOT_FOUND')
    expect(await codeOf(sessions.get(id, ben, { shared: 'public' }))).toBe('SESSION_NOT_FOUND')
    await sessions.share(id, 'public', ana)
    expect((await sessions.get(id, ben, { shared: 'public' })).id).toBe(id)
    expect(await codeOf(sessions.get(id, ben))).toBe('SESSION_NOT_FOUND')
  })

  test('nobody else changes it', async () => {
    const { agent } = await newSetting([])
    const { sessions } = agent
    const { id } = await sessions.create({}, ana)
    const works = [sessions.rename(id, 'x', ben), sessions.share(id, 'public', ben), sessions.remove(id, ben)]
    expect(await Promise.all(works.map(codeOf))).toEqual([
      'SESSION_NOT_FOUND',
      'SESSION_NOT_FOUND',
      'SESSION_NOT_FOUND',
    ])
  })
})

test('a session is created with what can be had', async () => {
  const { agent } = await newSetting([])
  expect(await codeOf(agent.sessions.create({ persona_id: 3 }, ana))).toBe('PERSONA_NOT_FOUND')
  expect(await codeOf(agent.sessions.create({ incognito: true }, ana))).toBe('DEPLOYMENT_UNSUPPORTED')
})

test('sessions are listed by their last message, page by page', async () => {
  const { agent, send, clock } = await newSetting(() => ['x'])
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    const run = await send()
    await run.whole()
    ids.unshift(run.sessionId)
    clock.time += 60_000
  }
  await send({}, { caller: ben })
  const first = await agent.sessions.list(ana, { limit: 3 })
  expect(first.sessions.map(({ id }) => id)).toEqual(ids.slice(0, 3))
  expect(first.hasMore).toBe(true)
  const before = Date.parse(first.sessions.at(-1)?.timeUpdated ?? '')
  const rest = await agent.sessions.list(ana, { limit: 3, before })
  expect(rest.sessions.map(({ id }) => id)).toEqual(ids.slice(3))
  expect(rest.hasMore).toBe(false)
})

test('a session that was opened and left is not listed after five minutes, unless asked for', async () => {
  const { agent, clock } = await newSetting([])
  const { id } = await agent.sessions.create({ description: 'Empty' }, ana)
  const listed = async (includeEmpty: boolean) =>
    (await agent.sessions.list(ana, { includeEmpty })).sessions.map((session) => session.id)
  expect(await listed(false)).toEqual([id])
  clock.time += 300_001
  expect(await listed(false)).toEqual([])
  expect(await listed(true)).toEqual([id])
})

describe('a name after the first answer', () => {
  const titled = { call: { name: 'name_conversation', input: { title: 'Days of leave' } } }
  // Read as it is stored, since a closed agent answers nothing.
  const nameOf = async ({ db }: Setting, id: string): Promise<string | undefined> => {
    const sessions = db.withTables<ConversationTables>().selectFrom('inlay_chat_sessions')
    return (await sessions.select('name').where('id', '=', id).executeTakeFirst())?.name
  }

  test('is found by the model, once, though nobody reads the answer to its end', async () => {
    const setting = await newSetting([['28 days.'], [titled], ['Yes.']], { sessionNames: 'model' })
    const { sessionId } = await setting.send({ message: 'How many days of leave?', origin: 'webapp' })
    await eventually(async () => (await nameOf(setting, sessionId)) === 'Days of leave')
    expect(JSON.stringify(setting.model.requests[1]?.prompt)).toContain('28 days.')
    expect((await setting.agent.sessions.list(ana)).sessions).toMatchObject([{ name: 'Days of leave' }])
    await (await setting.send({ message: 'Sure?', chat_session_id: sessionId })).whole()
    await setting.agent.close()
    expect(setting.model.requests).toHaveLength(3)
  })

  test.each([
    ['the page', 'webapp', 2],
    ['the chat element', 'widget', 2],
    ['an app', 'mobile', 2],
    ['an extension of a browser', 'chrome_extension', 2],
    ['a program', 'api', 1],
    ['a bot', 'slackbot', 1],
    ['a client that does not say what it is', undefined, 1],
  ] as const)('costs %s (%s) %i calls of the model, with the answer', async (_, origin, calls) => {
    const setting = await newSetting([['28 days.'], [titled]], { sessionNames: 'model' })
    const { sessionId, whole } = await setting.send({ ...(origin && { origin }) })
    await whole()
    if (calls === 2) await eventually(async () => (await nameOf(setting, sessionId)) === 'Days of leave')
    await setting.agent.close()
    expect(setting.model.requests).toHaveLength(calls)
    expect(await nameOf(setting, sessionId)).toBe(calls === 2 ? 'Days of leave' : 'How many days of leave do I get?')
  })

  test.each([
    ['is found once for a client that asks for one meanwhile', null, 'Days of leave'],
    ['leaves one that a person gave meanwhile', 'Mine', 'Mine'],
  ])('%s', async (_, given, expected) => {
    const gate = newGate()
    const setting = await newSetting(
      async (_call, step) => {
        if (step === 0) return ['28 days.']
        await gate.pass()
        return [titled]
      },
      { sessionNames: 'model' },
    )
    const run = await setting.send({ message: 'How many days of leave?', origin: 'webapp' })
    await run.whole()
    await gate.reached
    expect(await nameOf(setting, run.sessionId)).toBe('How many days of leave?')
    const name = setting.agent.sessions.rename(run.sessionId, given, ana)
    if (given) await name
    gate.open()
    expect(await name).toBe(expected)
    await setting.agent.close()
    expect(await nameOf(setting, run.sessionId)).toBe(expected)
    expect(setting.model.requests).toHaveLength(2)
  })

  test.each([
    ['the question, where a model is not asked', 'question', ['28 days.'], 'How many days of leave do I get?'],
    ['the question, where the model fails', 'model', ['28 days.'], 'How many days of leave do I get?'],
    [
      'the question, where the answer failed',
      'model',
      { reject: new Error('down') },
      'How many days of leave do I get?',
    ],
    ['none, where that is turned off', 'off', ['28 days.'], ''],
  ] as const)('is %s', async (_, sessionNames, answer, name) => {
    const setting = await newSetting([answer, { reject: new Error('down') }], {
      sessionNames,
      limits: { maxModelAttempts: 1 },
    })
    const run = await setting.send({ origin: 'webapp' })
    await run.whole()
    await setting.agent.close()
    expect(await nameOf(setting, run.sessionId)).toBe(name)
  })

  test('is not waited for by a process that ends: the question stays', async () => {
    const setting = await newSetting((_call, step) => (step === 0 ? ['28 days.'] : new Promise(() => {})), {
      sessionNames: 'model',
    })
    const run = await setting.send({ origin: 'webapp' })
    await run.whole()
    await eventually(() => setting.model.requests.length === 2)
    await setting.agent.close()
    expect(await nameOf(setting, run.sessionId)).toBe('How many days of leave do I get?')
  })
})

describe('a name', () => {
  test('is the one given', async () => {
    const { agent } = await newSetting([])
    const { id } = await agent.sessions.create({}, ana)
    expect(await agent.sessions.rename(id, '  Leave ', ana)).toBe('Leave')
    expect((await agent.sessions.get(id, ana)).name).toBe('Leave')
  })

  test('is found by the model when none is given', async () => {
    const { agent, send, model } = await newSetting([
      ['28 days.'],
      [{ call: { name: 'name_conversation', input: { title: '"Days of leave".' } } }],
    ])
    const run = await send({ message: 'How many days?' })
    await run.whole()
    expect(await agent.sessions.rename(run.sessionId, null, ana)).toBe('Days of leave')
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('How many days?')
  })

  test('of more than eighty characters is cut between words', async () => {
    const title = 'A name that goes on and on, '.repeat(4)
    const { agent, send } = await newSetting([['x'], [title]])
    const run = await send()
    await run.whole()
    expect(await agent.sessions.rename(run.sessionId, null, ana)).toBe(
      'A name that goes on and on, A name that goes on and on, A name that goes on and…',
    )
  })

  test('is the first question when the model fails, cut to forty characters', async () => {
    const question = 'How many days of leave does everybody get in a year?'
    const { agent, send } = await newSetting([['x'], { reject: new Error('down') }])
    const run = await send({ message: question })
    await run.whole()
    expect(await agent.sessions.rename(run.sessionId, '', ana)).toBe('How many days of leave does everybody...')
  })

  test('of an empty session is New Chat', async () => {
    const { agent } = await newSetting([], { models: providerOf(scriptedModel([])) })
    const { id } = await agent.sessions.create({}, ana)
    expect(await agent.sessions.rename(id, null, ana)).toBe('New Chat')
  })
})

describe('removing', () => {
  test('hides a session and ends its run; what is stored stays', async () => {
    const { agent, send } = await newSetting([['a', { hang: true }]])
    const run = await send()
    await agent.sessions.remove(run.sessionId, ana)
    expect((await readAll(run)).map(inShort).at(-1)).toBe('0.0 stop user_cancelled')
    expect(await codeOf(agent.sessions.get(run.sessionId, ana))).toBe('SESSION_NOT_FOUND')
    expect(await codeOf(send({ chat_session_id: run.sessionId }))).toBe('SESSION_NOT_FOUND')
    expect((await agent.sessions.get(run.sessionId, ana, { includeDeleted: true })).isDeleted).toBe(true)
    expect((await agent.sessions.list(ana)).sessions).toEqual([])
  })

  test('erases all there is when told so, of one caller only', async () => {
    const { agent, send, db } = await newSetting(() => ['x'])
    for (const caller of [ana, ana, ben])
      await (await send({}, { caller, idempotencyKey: crypto.randomUUID() })).whole()
    await agent.sessions.removeAll(ana, { erase: true })
    const tables = db.withTables<{ inlay_chat_messages: { id: number }; inlay_chat_send_keys: { key: string } }>()
    expect(await tables.selectFrom('inlay_chat_messages').select('id').execute()).toHaveLength(3)
    expect(await tables.selectFrom('inlay_chat_send_keys').select('key').execute()).toHaveLength(1)
    expect((await agent.sessions.list(ben)).sessions).toHaveLength(1)
  })
})

test('choosing another answer moves the mainline', async () => {
  const { agent, send, model } = await newSetting([['One.'], ['Two.'], ['Three.']])
  const run = await send({ message: 'Q' })
  await run.whole()
  const within = { chat_session_id: run.sessionId }
  await (await send({ ...within, parent_message_id: 2 })).whole()
  await agent.sessions.selectBranch(3, ana)
  await (await send({ ...within, message: 'Next' })).whole()
  expect(JSON.stringify(model.requests[2]?.prompt)).toContain('One.')
  expect(await codeOf(agent.sessions.selectBranch(1, ana))).toBe('VALIDATION_ERROR')
  expect(await codeOf(agent.sessions.selectBranch(3, ben))).toBe('VALIDATION_ERROR')
  expect(await codeOf(agent.sessions.selectBranch(999, ana))).toBe('VALIDATION_ERROR')
})
