import type { PGlite } from '@electric-sql/pglite'
import { Kysely, sql } from 'kysely'
import { postgres } from '@inlay/drivers/postgres'
import {
  conversationStoreConformance,
  runStoreConformance,
  sharedRunsConformance,
  type StoresUnderTest,
} from '@inlay/conformance'
import { createConversationStore, createRunStore, sqlSharedRuns } from '@inlay/conversations'
import { migrate } from '@inlay/records'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { migrateConversations } from '@inlay/conversations/internal/migrations'
import { createToolNumbers } from '@inlay/conversations/internal/custom-tools/tool-numbers'
import { poolOf, startPostgres } from '../stand-in/pglite.ts'
import { kennelDocument } from './custom-tools/kennel.ts'
import { ana, ben, codeOf, eventually, findsAlways, newPassage, newSetting, readAll } from '../agent/setting.ts'
import { scriptedAction } from '../agent/scripted-action.ts'

let database: PGlite
let db: Kysely<unknown>

beforeAll(async () => {
  database = await startPostgres()
  db = new Kysely<unknown>({ dialect: postgres({ pool: poolOf(database) }) })
  await migrateConversations(db)
  await migrateConversations(db)
})
afterAll(async () => {
  await db.destroy()
  await database.close()
})

test('the tables of another schema are not taken for its own, and no lock of the session is held', async () => {
  const statements: string[] = []
  const own = new Kysely<unknown>({
    dialect: postgres({ pool: poolOf(database) }),
    log: ({ query }) => void statements.push(query.sql),
  })
  await sql`create schema tenant`.execute(own)
  await sql`set search_path to tenant`.execute(own)
  await migrateConversations(own)
  // A pooler may give each statement outside of a transaction to another session.
  expect(new Set(statements.filter((statement) => statement.includes('advisory')))).toEqual(
    new Set([expect.stringMatching(/^select pg_advisory_xact_lock\(\d+\)$/)]),
  )
  const { rows } = await sql`select count(*)::int as count from tenant.inlay_chat_sessions`.execute(own)
  expect(rows).toEqual([{ count: 0 }])
  await sql`drop schema tenant cascade`.execute(own)
  await sql`set search_path to public`.execute(own)
})

test('a search path of several schemas that all are missing is refused with what to do', async () => {
  const own = new Kysely<unknown>({ dialect: postgres({ pool: poolOf(database) }) })
  await sql`set search_path to absent, missing`.execute(own)
  await expect(migrate(own, { name: 'test', expand: { '001': { up: async () => {} } } })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('specify a single schema') as string,
  })
  await sql`set search_path to public`.execute(own)
})

test('conversations live in Postgres as they do in SQLite', async () => {
  const { agent, send, clock } = await newSetting(
    [[{ call: { name: 'internal_search', input: { queries: ['leave'] } } }], ['28 days [1].'], ['Thirty.'], ['Other.']],
    { db, search: findsAlways(newPassage('leave', '28 days')) },
  )
  const { sessions } = agent
  const run = await send({ message: 'How many holidays?' }, { idempotencyKey: 'k' })
  expect((await run.whole()).answer).toBe('28 days [[1]](https://wiki.example/leave).')
  const again = await send({ message: 'How many holidays?' }, { idempotencyKey: 'k' })
  expect(await readAll(again)).toEqual(await readAll(run))
  clock.time += 1_000
  await (await send({ chat_session_id: run.sessionId, parent_message_id: run.messageId - 1 })).whole()
  const other = await send({ message: 'Bees?' })
  await other.whole()

  const session = await sessions.get(run.sessionId, ana)
  expect(session.messages.map(({ role, text }) => [role, text])).toEqual([
    ['system', ''],
    ['user', 'How many holidays?'],
    ['assistant', '28 days [[1]](https://wiki.example/leave).'],
    ['assistant', 'Thirty.'],
  ])
  expect(session.timeCreated).toBe('2026-01-12T09:30:00.000Z')
  expect(session.packets[0]?.length).toBeGreaterThan(6)

  const first = await sessions.list(ana, { limit: 1 })
  expect([first.sessions[0]?.id, first.hasMore]).toEqual([other.sessionId, true])
  const before = Date.parse(first.sessions[0]?.timeUpdated ?? '')
  expect((await sessions.list(ana, { limit: 1, before })).sessions[0]?.id).toBe(run.sessionId)
  expect((await sessions.list(ana, { projectId: null })).sessions).toHaveLength(2)
  expect((await sessions.search('holiday', ana)).groups).toMatchObject([
    { sessions: [{ id: run.sessionId, match: { text: expect.stringMatching(/holiday/i) as string } }] },
  ])
  await sessions.setPinned(other.sessionId, true, ana)
  await sessions.setPinned(run.sessionId, true, ana)
  await sessions.setPinned(run.sessionId, false, ana)
  await sessions.remove(other.sessionId, ana)
  expect(await sessions.listPinned(ana)).toEqual([])
  await sessions.restore(other.sessionId, ana)
  expect((await sessions.listPinned(ana)).map(({ id }) => id)).toEqual([other.sessionId])

  await sessions.rate({ messageId: run.messageId, isPositive: true, text: 'Good', predefined: null }, ana)
  await sessions.selectBranch(run.messageId, ana)
  await sessions.preferResponse(run.messageId - 1, run.messageId, ana)
  await sessions.setTemperature(run.sessionId, 0.25, ana)
  await sessions.setReasoningEffort(run.sessionId, 'low', ana)
  await sessions.share(run.sessionId, 'public', ana)
  const shared = await sessions.get(run.sessionId, ben, { shared: 'public' })
  expect(shared).toMatchObject({ temperature: 0.25, reasoningEffort: 'low', isPublic: true })
  expect(shared.messages.at(-1)).toMatchObject({ feedback: null })
  expect((await sessions.get(run.sessionId, ana)).messages[2]).toMatchObject({ feedback: 'like' })
  await sessions.unrate(run.messageId, ana)
  expect(await sessions.freeTokens(run.sessionId, ana)).toBeGreaterThan(90_000)

  expect(await codeOf(sessions.get(run.sessionId, ben))).toBe('SESSION_NOT_FOUND')
  await sessions.remove(run.sessionId, ana, { erase: true })
  await sessions.removeAll(ana)
  expect((await sessions.list(ana)).sessions).toEqual([])
  await agent.close()
})

test('a long conversation is summed up in Postgres too', async () => {
  const { agent, send, model } = await newSetting(
    (call) =>
      JSON.stringify(call.prompt[0]).includes('keep the memory') ? ['In short.'] : ['and more '.repeat(20_000)],
    { db },
  )
  const first = await send({ message: 'Begin.' })
  await first.whole()
  await (await send({ chat_session_id: first.sessionId })).whole()
  await eventually(async () => {
    const summaries = db.withTables<ConversationTables>().selectFrom('inlay_chat_summaries')
    return (await summaries.select('message_id').execute()).length > 0
  })
  await (await send({ chat_session_id: first.sessionId })).whole()
  const promptText = JSON.stringify(
    model.requests.filter(({ maxOutputTokens: most }) => most === undefined).at(-1)?.prompt,
  )
  expect(promptText).toContain('In short.')
  expect(promptText).not.toContain('Begin.')
  await agent.close()
})

test('memories live in Postgres as they do in SQLite', async () => {
  const { agent, send, model } = await newSetting(
    [[{ call: { name: 'add_memory', input: { memory: 'Works in optics.' } } }], ['Noted.'], ['Hello.']],
    { db, memories: true },
  )
  const { memories } = agent
  await (await send()).whole()
  await memories.update({ name: 'Ana', usesMemories: true }, ana)
  await memories.update({ role: 'Optician' }, ana)
  const known = await memories.get(ana)
  expect(known).toMatchObject({ name: 'Ana', role: 'Optician', memories: [{ content: 'Works in optics.' }] })
  expect(known.memories[0]?.createdAt).toBe(Date.UTC(2026, 0, 12, 9, 30))
  await (await send()).whole()
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Works in optics.')
  expect(await codeOf(memories.edit(known.memories[0]!.id, 'x', ben))).toBe('NOT_FOUND')
  const edited = { id: known.memories[0]!.id, content: 'Works in lasers.' }
  expect(
    (await memories.update({ memories: [edited, { id: null, content: 'Has a dog.' }] }, ana)).memories,
  ).toMatchObject([{ content: 'Has a dog.' }, edited])
  await memories.clear(ana)
  expect((await memories.get(ana)).memories).toEqual([])
})

test('custom actions and their numbers live in Postgres as they do in SQLite', async () => {
  const fetchAddress = async () => ({ status: 200, headers: new Headers(), bytes: new TextEncoder().encode('{}') })
  const { agent } = await newSetting([], { db, fetchAddress })
  const fields = { name: 'Kennel', description: '', definition: kennelDocument(), passesAuth: false, isForAll: true }
  const created = await agent.tools.create({ ...fields, customHeaders: [{ key: 'X-Key', value: 'k' }] }, ana)
  expect(created).toMatchObject({ id: 1001, isEnabled: true, customHeaders: [{ key: 'X-Key', value: 'k' }] })
  const names = async () => (await agent.actions(ana)).flatMap(({ id, name }) => (id > 1000 ? [name] : []))
  expect(await names()).toEqual(['list_dogs', 'boardDog', 'getDog', 'releaseDog'])
  expect(await agent.tools.update(1001, { name: 'Dogs' })).toMatchObject({ name: 'Dogs' })
  expect(await agent.tools.enable([1001], false)).toEqual([1001])
  expect(await names()).toEqual([])
  await agent.tools.remove(1001)
  expect(await agent.tools.list()).toEqual([])
  const [first, second] = [createToolNumbers(db), createToolNumbers(db)]
  const numbers = await Promise.all([first.numberOf('mcp', 'a'), second.numberOf('mcp', 'a')])
  expect(numbers[0]).toBe(numbers[1])
  expect(numbers[0]).toBeGreaterThan(1001)
})

test('what cannot be stored as text is left out of answers and results, and nothing fails of it', async () => {
  const look = scriptedAction({ id: 1_000_001, name: 'look', result: { text: 'x\u0000y\uD83E' } })
  const { agent, send, errors } = await newSetting(
    [[{ reasoning: 'Th\u0000ink.' }, { call: { name: 'look', input: { at: '\u0000' } } }], ['25\u0000 days\uD83E.']],
    { db, actions: [look] },
  )
  const run = await send()
  const whole = await run.whole()
  expect([whole.error_msg, errors]).toEqual([null, []])
  const { messages } = await agent.sessions.get(run.sessionId, ana)
  expect(messages.at(-1)?.text).toBe('25 days.')
  expect(whole.tool_calls[0]?.tool_result).toBe('xy')
})

describe('the stores of the engine on Postgres', () => {
  const make = async (): Promise<StoresUnderTest> => {
    const tables = db.withTables<ConversationTables>()
    for (const table of [
      'inlay_chat_send_keys',
      'inlay_chat_summaries',
      'inlay_chat_tool_calls',
      'inlay_chat_messages',
      'inlay_chat_sessions',
    ] as const)
      await tables.deleteFrom(table).execute()
    let time = 1_000
    const services = { now: () => time, newId: () => crypto.randomUUID() }
    return {
      conversations: createConversationStore(tables, services),
      runs: createRunStore(tables, services.now),
      advance: (milliseconds) => void (time += milliseconds),
    }
  }
  const makeSharedRuns = async () => {
    const tables = db.withTables<ConversationTables>()
    for (const table of ['inlay_chat_runs', 'inlay_chat_run_lines'] as const) await tables.deleteFrom(table).execute()
    let time = 1_000
    const processes = () => sqlSharedRuns({ db, now: () => time })
    return { process: processes, advance: (milliseconds: number) => void (time += milliseconds) }
  }
  const all = [
    ...conversationStoreConformance(make),
    ...runStoreConformance(make),
    ...sharedRunsConformance(makeSharedRuns),
  ]
  for (const [title, run] of all) test(title, run)
})
