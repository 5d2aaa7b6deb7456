import { expect, test } from 'vitest'
import type { TurnOpening } from '@inlay/agent'
import { answer, opening as anyOpening } from '@inlay/conformance/internal/stores/store-fixture'
import { createConversationStore, migrateConversations, sqlSharedRuns } from '@inlay/conversations'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { CompiledQuery, Kysely, type LogEvent } from 'kysely'
import type { ConversationDatabase, ConversationTables } from '@inlay/conversations/internal/tables/database'
import {
  findsAlways,
  newDatabase,
  newPassage,
  newSetting,
  ana,
  eventually,
  inShort,
  packetsOf,
  readAll,
} from '../../agent/setting.ts'

async function newStore(records?: Kysely<unknown>) {
  const db: ConversationDatabase = (records ?? (await newDatabase())).withTables<ConversationTables>()
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

test('running answers are found by their index, however many have ended, oldest first', async () => {
  const queries: CompiledQuery[] = []
  const log = ({ query }: LogEvent): void => void queries.push(query)
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: ':memory:' }), log })
  await migrateConversations(db)
  const { conversations } = await newStore(db)
  const opened = [await conversations.open(opening), await conversations.open(opening)]
  expect((await conversations.running()).map(({ answerId }) => answerId)).toEqual(
    opened.map((each) => each.answerIds[0]),
  )
  const { sql: text, parameters } = queries.at(-1)!
  const { rows } = await db.executeQuery<{ detail: string }>(
    CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
  )
  expect(rows.map(({ detail }) => detail).join()).toMatch(/inlay_chat_messages_running$/)
  await db.destroy()
})

test('an answer does not store the documents of its row in its lines and calls again, and shows all of them', async () => {
  const passage = newPassage('leave', '28 days', {
    blurb: "From $& to $' it is 28 days.",
    semantic_identifier: 'Leave',
  })
  const { agent, send, db } = await newSetting(
    [['First I look.', { call: { name: 'internal_search', input: { queries: ['q'] } } }], ['28 days [1].']],
    { search: findsAlways(passage) },
  )
  const run = await send()
  const streamed = packetsOf(await readAll(run)).flatMap(({ obj }) => (obj.type === 'message_start' ? [obj] : []))
  expect(streamed.map(({ final_documents: documents }) => documents?.length)).toEqual([undefined, 1])
  const { packets } = await agent.sessions.get(run.sessionId, ana)
  expect(packets[0]!.flatMap(({ obj }) => (obj.type === 'message_start' ? [obj] : []))).toEqual(streamed)
  const records = db.withTables<ConversationTables>()
  const row = await storedAnswer(records, run.messageId)
  const calls = await records.selectFrom('inlay_chat_tool_calls').selectAll().execute()
  const places = { lines: row.lines, documents: row.documents, calls: calls[0]!.documents, packets: calls[0]!.packets }
  const count = (text: string | null): number => (text ?? '').split(passage.document.blurb).length - 1
  expect(Object.entries(places).map(([name, text]) => [name, count(text)])).toEqual([
    ['lines', 1],
    ['documents', 1],
    ['calls', 1],
    ['packets', 0],
  ])
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

/** The runs of a process by this name, while others of these names have ended. */
const processOf = (db: Kysely<unknown>, owner: string, ended: readonly string[] = []) =>
  sqlSharedRuns({ db, now: Date.now, processes: { owner, isGone: (other) => ended.includes(other) } })

test('what a running answer says reaches the database before it ends, and a later process ends it', async () => {
  const db = await newDatabase()
  const records = db.withTables<ConversationTables>()
  const before = await newSetting([['Said early', { hang: true }]], {
    db,
    now: Date.now,
    sharedRuns: processOf(db, 'before'),
  })
  const run = await before.send()
  const written = async (): Promise<string> =>
    (await records.selectFrom('inlay_chat_run_lines').select('lines').execute()).map(({ lines }) => lines).join()
  await eventually(async () => (await written()).includes('Said early'))
  expect((await storedAnswer(records, run.messageId)).status).toBe('running')
  const after = await newSetting([['x']], { db, now: Date.now, sharedRuns: processOf(db, 'after', ['before']) })
  await after.agent.start()
  const ended = await storedAnswer(records, run.messageId)
  expect(ended).toMatchObject({ status: 'terminated', text: 'Said early', error_code: 'SERVICE_UNAVAILABLE' })
  const { packets } = await after.agent.sessions.get(run.sessionId, ana)
  expect(packets[0]?.map(inShort)).toEqual([
    '0.0 message_start null',
    '0.0 message_delta "Said early"',
    '0.0 error SERVICE_UNAVAILABLE',
  ])
})

test('an answer whose run nobody shared is ended once it is older than a lease, unless its process makes it', async () => {
  const db = await newDatabase()
  const records = db.withTables<ConversationTables>()
  const { clock, conversations } = await newStore(db)
  const left = await conversations.open(opening)
  clock.time += 7_000
  const fresh = await conversations.open(opening)
  const { agent, send } = await newSetting([['So far', { hang: true }]], { db, now: () => clock.time })
  const run = await send()
  const statusOf = async (id: number | undefined): Promise<string> => (await storedAnswer(records, id ?? 0)).status
  expect(await statusOf(left.answerIds[0])).toBe('terminated')
  expect(await statusOf(fresh.answerIds[0])).toBe('running')
  clock.time += 7_000
  await eventually(async () => (await statusOf(fresh.answerIds[0])) === 'terminated')
  expect(await statusOf(run.messageId)).toBe('running')
  await agent.close()
})

test('a database of before opens: running answers end with what was said, keyed sends are repeated with their text', async () => {
  const db = await newDatabase()
  const records = db.withTables<ConversationTables>()
  const first = await newSetting([['It is ', '25.']], { db })
  const run = await first.send({ message: 'Q' }, { idempotencyKey: 'k' })
  const lines = await readAll(run)
  await first.agent.close()
  // As the version before left it: lines with the key, text of a running answer with its message.
  await records.deleteFrom('inlay_chat_runs').execute()
  await db.schema.alterTable('inlay_chat_messages').dropColumn('lines').execute()
  await db.schema.alterTable('inlay_chat_send_keys').addColumn('lines', 'text').execute()
  const migrations = db.withTables<{ inlay_agent_migration: { name: string } }>()
  await migrations.deleteFrom('inlay_agent_migration').where('name', '=', '0017-lines').execute()
  const old = db.withTables<{ inlay_chat_send_keys: { lines: string }; inlay_chat_messages: { text: string } }>()
  await old
    .updateTable('inlay_chat_send_keys')
    .set({ lines: lines.map((line) => JSON.stringify(line)).join('\n') })
    .execute()
  const { clock, conversations } = await newStore(db)
  const running = await conversations.open({ ...opening, ownerId: ana.id })
  const text = records.updateTable('inlay_chat_messages').set({ text: 'Said early' })
  await text.where('id', '=', running.answerIds[0]!).execute()

  await migrateConversations(db)
  const after = await newSetting([['never']], { db, now: () => clock.time + 7_000 })
  const again = await after.send({ message: 'Q' }, { idempotencyKey: 'k' })
  expect((await readAll(again)).map(inShort)).toEqual([
    ...lines.slice(0, 2).map(inShort),
    '0.0 message_start null',
    '0.0 message_delta "It is 25."',
    '0.0 stop null',
  ])
  expect(await storedAnswer(records, running.answerIds[0]!)).toMatchObject({ status: 'terminated', text: 'Said early' })
  const { packets } = await after.agent.sessions.get(run.sessionId, ana)
  expect(packets[0]?.map(inShort)).toContain('1.0 message_delta "It is 25."')
  expect(await storedAnswer(records, run.messageId)).toMatchObject({ lines: null })
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
