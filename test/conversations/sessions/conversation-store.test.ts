import { expect, test } from 'vitest'
import type { TurnOpening } from '@inlay/agent'
import { answer, opening as anyOpening } from '@inlay/conformance/internal/stores/store-fixture'
import { createConversationStore } from '@inlay/conversations'
import type { ConversationDatabase, ConversationTables } from '@inlay/conversations/internal/tables/database'
import { findsAlways, newDatabase, newPassage, newSetting, ana, eventually } from '../../agent/setting.ts'

async function newStore() {
  const db: ConversationDatabase = (await newDatabase()).withTables<ConversationTables>()
  const clock = { time: 1_000 }
  let ids = 0
  const conversations = createConversationStore(db, { now: () => clock.time, newId: () => `s${++ids}` })
  return { db, clock, conversations }
}

const opening: TurnOpening = { ...anyOpening, history: { chars: 10_000, withoutCallsOf: [] } }
const done = { ...answer, durationMs: 5 } as const

test('a turn stores a hidden root, the message and an empty answer that runs', async () => {
  const { db, conversations } = await newStore()
  const opened = await conversations.open({ ...opening, creation: { description: 'Greetings' } })
  expect(opened).toMatchObject({ sessionId: 's1', isNewSession: true, userMessageId: 2, answerIds: [3], messages: [] })
  const rows = await db.selectFrom('inlay_chat_messages').selectAll().orderBy('id').execute()
  expect(
    rows.map(({ role, text, parent_id, latest_child_id, status }) => ({
      role,
      text,
      parent_id,
      latest_child_id,
      status,
    })),
  ).toEqual([
    { role: 'system', text: '', parent_id: null, latest_child_id: 2, status: 'done' },
    { role: 'user', text: 'Hello?', parent_id: 1, latest_child_id: 3, status: 'done' },
    { role: 'assistant', text: '', parent_id: 2, latest_child_id: null, status: 'running' },
  ])
  expect(await conversations.session('s1', 'ana')).toMatchObject({ personaId: 0 })
  expect(await db.selectFrom('inlay_chat_sessions').select('name').execute()).toEqual([{ name: 'Greetings' }])
})

test('a parent that does not fit stores nothing at all', async () => {
  const { db, conversations } = await newStore()
  await expect(conversations.open({ ...opening, parentId: 12 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  expect(await db.selectFrom('inlay_chat_sessions').selectAll().execute()).toEqual([])
})

test('the id of a deleted message is not given out again', async () => {
  const { db, conversations } = await newStore()
  await conversations.open(opening)
  await db.deleteFrom('inlay_chat_messages').execute()
  expect((await conversations.open(opening)).answerIds).toEqual([6])
})

test('history reads the newest messages, with their calls, as far as it may', async () => {
  const { conversations } = await newStore()
  const first = await conversations.open(opening)
  const call = {
    step: 0,
    turnIndex: 0,
    tabIndex: 0,
    callId: 'c',
    actionId: 1,
    name: 'internal_search',
    failed: false,
    arguments: {},
    result: 'found',
    reasoning: null,
    packets: [],
    documents: null,
    images: null,
  }
  await conversations.finish(first.answerIds[0] ?? 0, { ...done, toolCalls: [call] })
  const session = await conversations.session(first.sessionId, 'ana')
  for (let turn = 0; turn < 60; turn++) {
    const { answerIds } = await conversations.open({ ...opening, session, text: `Message ${turn}` })
    await conversations.finish(answerIds[0] ?? 0, done)
  }
  const all = await conversations.open({ ...opening, session })
  expect(all.messages).toHaveLength(122)
  expect(all.messages[0]?.text).toBe('Hello?')
  expect(all.messages[1]).toMatchObject({ text: 'Hi.', toolCalls: [{ name: 'internal_search', result: 'found' }] })
  const shortened = await conversations.open({ ...opening, session, history: { chars: 20, withoutCallsOf: [] } })
  // The answer that would still fit is left out with its question.
  expect(shortened.messages.map(({ text }) => text)).toEqual(['Message 59', 'Hi.', 'Hello?', ''])
})

test('an answer of a process that is gone ends with what it said; one that lives is left alone', async () => {
  const { db, clock, conversations } = await newStore()
  const gone = await conversations.open(opening)
  await conversations.checkpoint([{ answerId: gone.answerIds[0] ?? 0, text: 'So far' }])
  clock.time += 9_000
  const alive = await conversations.open(opening)
  clock.time += 1_000
  expect(await conversations.terminateAbandoned(10_000)).toBe(9_000)
  const rows = await db
    .selectFrom('inlay_chat_messages')
    .select(['id', 'status', 'text', 'error'])
    .where('role', '=', 'assistant')
    .orderBy('id')
    .execute()
  expect(rows).toEqual([
    { id: gone.answerIds[0], status: 'terminated', text: 'So far', error: expect.stringContaining('stopped') },
    { id: alive.answerIds[0], status: 'running', text: '', error: null },
  ])
})

test('a checkpoint does not touch an answer that has ended', async () => {
  const { db, conversations } = await newStore()
  const { answerIds } = await conversations.open(opening)
  await conversations.finish(answerIds[0] ?? 0, done)
  await conversations.checkpoint([{ answerId: answerIds[0] ?? 0, text: 'late' }])
  const row = await db
    .selectFrom('inlay_chat_messages')
    .select('text')
    .where('id', '=', answerIds[0] ?? 0)
    .executeTakeFirst()
  expect(row?.text).toBe('Hi.')
})

async function storedAnswer(db: ConversationDatabase, id: number) {
  return db.selectFrom('inlay_chat_messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

test('a finished run is stored with its citations, documents and calls before its last line', async () => {
  const { send, db } = await newSetting(
    [[{ reasoning: 'Search.' }, { call: { name: 'internal_search', input: { queries: ['q'] } } }], ['28 days [1].']],
    { search: findsAlways(newPassage('leave', '28 days')) },
  )
  const records = db.withTables<ConversationTables>()
  const run = await send()
  let atStop: string | undefined
  for await (const entries of run.read())
    if (entries.some(({ json }) => json.includes('"stop"')))
      atStop = (await storedAnswer(records, run.messageId)).status
  expect(atStop).toBe('done')
  const answer = await storedAnswer(records, run.messageId)
  expect(answer).toMatchObject({
    text: '28 days [[1]](https://wiki.example/leave).',
    error: null,
    model_name: 'script-1',
  })
  expect(JSON.parse(answer.citations ?? '')).toEqual([{ number: 1, documentId: 'leave' }])
  expect(JSON.parse(answer.documents ?? '')).toMatchObject([{ document_id: 'leave' }])
  const calls = await records.selectFrom('inlay_chat_tool_calls').selectAll().execute()
  expect(calls).toMatchObject([
    {
      message_id: run.messageId,
      step: 0,
      turn_index: 1,
      tab_index: 0,
      name: 'internal_search',
      reasoning: 'Search.',
      failed: 0,
    },
  ])
})

test('failed and stopped answers keep what was said, failed ones their reason too', async () => {
  const { send, db, agent } = await newSetting([
    ['Half', { cut: new Error('x') }],
    ['Part', { hang: true }],
  ])
  const records = db.withTables<ConversationTables>()
  const failed = await send()
  const whole = await failed.whole()
  expect(await storedAnswer(records, failed.messageId)).toMatchObject({
    status: 'failed',
    text: 'Half',
    error: whole.error_msg,
    error_code: 'UNKNOWN_ERROR',
  })
  const stopped = await send()
  for await (const entries of stopped.read()) if (entries.some(({ json }) => json.includes('Part'))) break
  await agent.stop(stopped.sessionId, ana)
  expect(await storedAnswer(records, stopped.messageId)).toMatchObject({
    status: 'cancelled',
    text: 'Part',
    error: null,
  })
})

test('what a running answer says reaches the database before it ends', async () => {
  const { send, db, clock } = await newSetting([['Said early', { hang: true }]])
  const records = db.withTables<ConversationTables>()
  const run = await send()
  clock.time += 60_000
  await eventually(async () => (await storedAnswer(records, run.messageId)).text === 'Said early')
  expect((await storedAnswer(records, run.messageId)).status).toBe('running')
})

test('a new agent on the same records ends what an earlier process left', async () => {
  const db = await newDatabase()
  const before = await newSetting([['Said early', { hang: true }]], { db })
  const run = await before.send()
  for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('early'))) break
  before.clock.time += 60_000
  await eventually(async () => (await storedAnswer(db.withTables<ConversationTables>(), run.messageId)).text !== '')
  const after = await newSetting([['x']], { db, now: () => before.clock.time + 20_000 })
  await (await after.send()).whole()
  expect(await storedAnswer(db.withTables<ConversationTables>(), run.messageId)).toMatchObject({
    status: 'terminated',
    text: 'Said early',
    error_code: 'SERVICE_UNAVAILABLE',
  })
})

test('a database that fails at the end of a run is told as a failure of the server', async () => {
  let breakIt = async (): Promise<void> => {}
  const { send, db, errors } = await newSetting([['Fine.', { pause: () => breakIt() }, ' Really.']])
  breakIt = async () => db.schema.dropTable('inlay_chat_messages').execute()
  const run = await send()
  expect(await run.whole()).toMatchObject({ answer: 'Fine. Really.', error_msg: expect.stringContaining('server') })
  expect(errors).toHaveLength(1)
})

test('between the writes of a long message the event loop turns', async () => {
  const { conversations } = await newStore()
  await conversations.open(opening)
  const turnsOf = async (text: string): Promise<number> => {
    let turns = 0
    const turn = (): void => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await conversations.open({ ...opening, text })
    clearImmediate(next)
    return turns
  }
  const short = await turnsOf('Hello?')
  expect(await turnsOf('Hello? '.repeat(20_000))).toBe(short + 2)
})
