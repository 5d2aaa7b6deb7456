import assert from 'node:assert/strict'
import { postgres } from '@inlay/drivers/postgres'
import { Kysely, sql } from 'kysely'
import type { PostgresServer } from '../../knowledge/postgres-server.ts'
import { eventually } from '../../life/process.ts'
import { call, find, percentile, send, textOf, words } from './calls.ts'
import { fillRecords } from './filled-records.ts'
import { freePorts, member, type Member } from './processes.ts'

/** Databases of records whose index is lost: the first process that starts rebuilds it. */
export interface LostIndex {
  readonly records: string
  readonly index: string
}

/** Fills a database with documents that have a text each, without an index. */
export async function recordsWithoutIndex(
  server: PostgresServer,
  documents: number,
  dataFolder: string,
): Promise<LostIndex> {
  const [records, used, index] = [await server.takeDatabase(), await server.takeDatabase(), await server.takeDatabase()]
  const [port] = await freePorts(1)
  const first = member({ port: port!, dataFolder, postgres: records, pgvector: used })
  await first.start()
  const db = new Kysely<unknown>({ dialect: postgres({ connectionString: records, maxConnections: 2 }) })
  try {
    const content = await contentOfOne(first, db)
    await first.stop()
    const filling = { documents, pairs: 100, sessions: 1_000, messages: 5_000, auditRows: 1_000 }
    await fillRecords(db, filling, true)
    await sql`insert into inlay_contents (id, content)
      select id, replace(${content}::text, 'template', substr(id, 10)) from inlay_documents where id like 'document-%'`.execute(
      db,
    )
    await sql`vacuum analyze inlay_contents`.execute(db)
  } finally {
    await first.kill()
    await db.destroy()
  }
  return { records, index }
}

/** The stored form of a document, which is removed again; `template` is a placeholder for its number. */
async function contentOfOne({ base }: Member, db: Kysely<unknown>): Promise<string> {
  const document = {
    id: 'document-template',
    semantic_identifier: 'A report about titletemplate',
    metadata: {},
    sections: [{ text: 'Report template tells of the herons of pond template and what they ate in spring.' }],
  }
  const taken = await call(base, '/service-api/ingestion', {
    method: 'POST',
    headers: { prefer: 'wait=60' },
    body: JSON.stringify({ document }),
  })
  assert.equal(taken.status, 200, await taken.text())
  const { rows } = await sql<{
    content: string
  }>`select content from inlay_contents where id = 'document-template'`.execute(db)
  const removed = await call(base, '/service-api/ingestion/document-template', { method: 'DELETE' })
  assert.equal(removed.status, 200, await removed.text())
  await eventually('the document is gone', async () => {
    const left = await sql`select 1 from inlay_documents where id = 'document-template'`.execute(db)
    return left.rows.length === 0 || undefined
  })
  return rows[0]!.content
}

/** How many documents are in the new index. */
async function countRebuilt(records: string): Promise<number> {
  const db = new Kysely<unknown>({ dialect: postgres({ connectionString: records, maxConnections: 1 }) })
  try {
    const { rows } = await sql<{ count: string }>`select count(*) as count from inlay_documents
      where visible_generation not like 'generation-%' and id like 'document-%'`.execute(db)
    return Number(rows[0]!.count)
  } finally {
    await db.destroy()
  }
}

interface Kind {
  readonly name: string
  readonly lanes: number
  readonly work: (lane: number, round: number) => Promise<void>
}

async function ok(response: Promise<Response>): Promise<string> {
  const { status } = await response
  const text = await (await response).text()
  assert.equal(status, 200, text.slice(0, 200))
  return text
}

function kindsOf(base: string, members: readonly Member[], documents: number): readonly Kind[] {
  const probe = (path: string) => async (lane: number) =>
    void (await ok(call(members[lane % members.length]!.base, path)))
  const get = (path: string) => async () => void (await ok(call(base, path)))
  const spread = (lane: number, round: number): number => ((lane * 7_919 + round * 104_729) % documents) + 1
  return [
    { name: 'GET /health', lanes: 3, work: probe('/health') },
    { name: 'GET /health/ready', lanes: 3, work: probe('/health/ready') },
    { name: 'GET /metrics', lanes: 1, work: probe('/metrics') },
    {
      name: 'answers',
      lanes: 2,
      work: async () => {
        const stream = await send(base, { message: 'Say 40 words.' })
        assert.ok(await stream.ended, `the stream was cut after ${stream.lines.length} lines`)
        assert.equal(textOf(stream.lines), words(40))
      },
    },
    {
      name: 'new documents',
      lanes: 1,
      work: async (lane, round) => {
        const text = `The egret number ${round} of pond ${lane}.`
        const document = { id: `new-${lane}-${round}`, semantic_identifier: 'New', metadata: {}, sections: [{ text }] }
        await ok(call(base, '/service-api/ingestion', { method: 'POST', body: JSON.stringify({ document }) }))
      },
    },
    { name: 'searches', lanes: 1, work: async () => void (await find(base, 'heron')) },
    { name: 'list of documents', lanes: 1, work: get('/service-api/ingestion?limit=50') },
    {
      name: 'documents by title',
      lanes: 1,
      work: async (lane, round) => get(`/service-api/ingestion?match=title${spread(lane, round)}`)(),
    },
    { name: 'indexing status', lanes: 1, work: get('/manage/indexing-status') },
    { name: 'sessions', lanes: 1, work: get('/chat/get-user-chat-sessions') },
  ]
}

/** Calls of each kind while the index is rebuilt; none may fail, and the rebuild must not have ended before. */
export async function amidRebuild(
  base: string,
  members: readonly Member[],
  { documents, records, seconds }: { documents: number; records: string; seconds: number },
  say: (text: string) => void,
): Promise<void> {
  await eventually('a search finds something', async () => (await find(base, 'heron').catch(() => []))[0])
  const before = await countRebuilt(records)
  assert.ok(before < documents, 'the index was made before the calls began: take more documents')
  let isOver = false
  const failures: string[] = []
  const kinds = kindsOf(base, members, documents).map((kind) => ({ ...kind, times: [] as number[] }))
  const lane = async ({ name, work, times }: (typeof kinds)[number], at: number): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      const began = performance.now()
      try {
        await work(at, round)
        times.push(performance.now() - began)
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      }
      // The pace of a person who reads the answer.
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const lanes = kinds.flatMap((kind) => Array.from({ length: kind.lanes }, (_, at) => lane(kind, at)))
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  isOver = true
  await Promise.all(lanes)
  const after = await countRebuilt(records)
  const calls = kinds.reduce((sum, { times }) => sum + times.length, failures.length)
  say(
    `  ${calls} calls in ${seconds} s amid a rebuild (${before} to ${after} of ${documents}), ${failures.length} failed`,
  )
  for (const { name, times } of kinds)
    say(
      `    ${name.padEnd(20)} ${String(times.length).padStart(6)} calls  p50 ${String(percentile(times, 0.5)).padStart(5)} ms` +
        `  p95 ${String(percentile(times, 0.95)).padStart(5)} ms  most ${String(percentile(times, 1)).padStart(5)} ms`,
    )
  for (const failure of new Set(failures.slice(0, 20))) say(`    ${failure.replaceAll('\n', ' ')}`)
  assert.equal(failures.length, 0, 'calls failed')
  assert.ok(after < documents, 'the rebuild ended before the calls did: take more documents')
}
