import type { SharedRuns } from '@inlay/agent'
import { sqlSharedRuns } from '@inlay/conversations'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { expect, test } from 'vitest'
import { newDatabase } from '../../agent/setting.ts'
import { after } from '../sessions/after.ts'

const messageId = 7
const openedAt = Date.UTC(2026, 0, 12)

/** Processes that share a database; `race` happens between the first look of a process at runs and what it does then. */
async function newProcesses() {
  const db = await newDatabase()
  const gone = new Set<string>()
  const clock = { time: openedAt }
  const start = (owner: string, race?: () => Promise<unknown>): SharedRuns =>
    sqlSharedRuns({
      db: race ? db.withPlugin(after('inlay_chat_runs', race)) : db,
      now: () => clock.time,
      processes: { owner, isGone: (other) => gone.has(other) },
    })
  return { db: db.withTables<ConversationTables>(), gone, clock, start }
}

const run = { sessionId: 's', messageId, runId: messageId, openedAt }

test('a run whose process shows a sign of life just then is not taken over', async () => {
  const { clock, start } = await newProcesses()
  const maker = start('a')
  await maker.open(run)
  clock.time += 10_000
  const other = start('b', () => maker.append([{ messageId, entries: [], finished: false }]))
  expect(await other.takeAbandoned(1_000)).toEqual([])
  expect(await maker.append([{ messageId, entries: [], finished: false }])).toEqual([])
})

test('a run that another process takes over within the same millisecond is taken once', async () => {
  const { gone, start } = await newProcesses()
  await start('a').open(run)
  gone.add('a')
  const faster = start('b')
  let taken: readonly unknown[] = []
  const slower = start('c', async () => (taken = await faster.takeAbandoned(1_000)))
  expect(await slower.takeAbandoned(1_000)).toEqual([])
  expect(taken).toHaveLength(1)
})

test('a run that ends just then is not taken over', async () => {
  const { gone, start } = await newProcesses()
  const maker = start('a')
  await maker.open(run)
  gone.add('a')
  const other = start('b', () => maker.append([{ messageId, entries: [], finished: true }]))
  expect(await other.takeAbandoned(1_000)).toEqual([])
})

test('a run that was written in many parts is finished for its readers with the last line, not before', async () => {
  const { start } = await newProcesses()
  const maker = start('a')
  await maker.open(run)
  const count = 150
  for (let sequence = 1; sequence <= count; sequence++)
    await maker.append([{ messageId, entries: [{ sequence, json: '{}' }], finished: sequence === count }])
  const read: number[] = []
  for (let isOver = false; !isOver;) {
    const { entries, finished } = await maker.read(messageId, read.at(-1) ?? 0)
    read.push(...entries.map(({ sequence }) => sequence))
    isOver = finished
  }
  expect(read).toHaveLength(count)
})

test('lines that were written without its maker knowing are written again with those after them', async () => {
  const { start } = await newProcesses()
  const maker = start('a')
  await maker.open(run)
  const line = (sequence: number) => ({ sequence, json: `${sequence}` })
  await maker.append([{ messageId, entries: [line(1), line(2)], finished: false }])
  await maker.append([{ messageId, entries: [line(1), line(2), line(3)], finished: false }])
  expect((await maker.read(messageId, 0)).entries).toEqual([line(1), line(2), line(3)])
  expect((await maker.read(messageId, 2)).entries).toEqual([line(3)])
})

test('a process that starts forgets those of its machine that ended without a word', async () => {
  const { db, gone, start } = await newProcesses()
  await start('a').subscribe(() => {})
  await start('b').subscribe(() => {})
  gone.add('a')
  await start('c').subscribe(() => {})
  const rows = await db.selectFrom('inlay_chat_processes').select('owner').orderBy('owner').execute()
  expect(rows).toEqual([{ owner: 'b' }, { owner: 'c' }])
})
