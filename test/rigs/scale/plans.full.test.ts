import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import type { Inlay } from 'inlay'
import { CompiledQuery, Kysely, sql, type Dialect } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../knowledge/postgres-server.ts'
import { fillRecords } from './filled-records.ts'
import { describedReads, make, readingCalls, serviceOver, watched, writingCalls } from './list-calls.ts'

const filling = { documents: 100_000, pairs: 5_000, sessions: 20_000, messages: 100_000, auditRows: 50_000 }

/** Tables that hold many rows after filling. */
const large = new Set([
  'inlay_documents',
  'inlay_document_pairs',
  'inlay_document_names',
  'inlay_document_tags',
  'inlay_chat_sessions',
  'inlay_chat_messages',
  'inlay_chat_search',
  'inlay_audit',
])
/** Most rows that a statement may sort, by the estimate of the planner. */
const maxSorted = 25_000

/** Statements that may read a whole table, and why. */
const mayScan: readonly { readonly statement: RegExp; readonly reason: string }[] = [
  { statement: /count\(\*\) as "?count"? from "?inlay_documents"?/i, reason: 'figures are sampled once a minute' },
  {
    statement: /^select "id", "(visible_generation|incarnation)".* from "inlay_documents"/i,
    reason: 'compares the index with the records in the background, page by page',
  },
  {
    statement: /as "inlay_documents" where \(lower/i,
    reason: 'matches 5,000 documents one by one before it asks the index',
  },
  {
    statement: /"state" = 'indexing' and not exists/i,
    reason: 'walks an index that holds only documents under way',
  },
  { statement: /counted group by pair_id/i, reason: 'repairs counts in the background' },
  {
    statement: /select min\(case when attempts = 0 and due_at/i,
    reason: 'figures are sampled four times a minute, and wait longer after a slow count',
  },
  {
    statement: /"state" = 'failed' order by "due_at" desc/i,
    reason: 'walks an index that holds only documents that failed',
  },
  {
    statement: /from "inlay_chat_messages" where "status" = \S+$/i,
    reason: 'walks an index that holds only answers under way',
  },
  {
    statement: /"visible_generation" not like .* and "state" != \S+ limit/i,
    reason: 'asked once a pass over all documents found none to move',
  },
]

interface Finding {
  readonly statement: string
  readonly plan: string
}

describe.each(['SQLite', 'PostgreSQL'])('with 100,000 documents and messages on %s', (name) => {
  test('no statement reads or sorts a large table as a whole', { timeout: 240_000 }, async () => {
    const isPostgres = name === 'PostgreSQL'
    const folder = mkdtempSync(join(tmpdir(), 'inlay-plans-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    const server = isPostgres ? await startPostgres() : undefined
    const address = await server?.takeDatabase()
    const own = (): Dialect =>
      address === undefined
        ? nodeSqlite({ file: join(folder, 'inlay.db') })
        : postgres({ connectionString: address, maxConnections: 4 })
    const statements = new Map<string, CompiledQuery>()
    let isWatching = false
    const dialect = watched(own(), (query) => {
      if (isWatching && /^\s*(select|with|update|delete|insert)/i.test(query.sql)) statements.set(query.sql, query)
    })
    const inlay = serviceOver(dialect, folder)
    await inlay.start()
    const db = new Kysely<unknown>({ dialect: own() })
    await fillRecords(db, filling, isPostgres)
    isWatching = true
    const reads = await describedReads(inlay)
    expect(reads.length).toBeGreaterThan(120)
    for (const call of [...reads, ...readingCalls(filling.documents), ...writingCalls]) {
      const { status } = await make(inlay, call)
      // Nothing is measured here: /metrics is 501.
      expect([call.name, status < 500 || status === 501]).toEqual([call.name, true])
    }
    await inlay.erase('owner-77')
    await rebuildSome(inlay, db)
    isWatching = false
    await inlay.close()

    expect(statements.size).toBeGreaterThan(80)
    const findings: Finding[] = []
    for (const query of statements.values()) {
      if (mayScan.some(({ statement }) => statement.test(query.sql))) continue
      const bad = isPostgres ? await onPostgres(db, query) : await onSqlite(db, query)
      if (bad.length > 0) findings.push({ statement: query.sql, plan: bad.join('; ') })
    }
    await db.destroy()
    await server?.stop()
    expect(findings).toEqual([])
  })
})

/** Has the index rebuilt, until some of the documents are in the new one. */
async function rebuildSome(inlay: Inlay, db: Kysely<unknown>): Promise<void> {
  await sql`insert into inlay_contents (id, content)
    select id, (select content from inlay_contents where id = 'new') from inlay_documents where id like 'document-%'`.execute(
    db,
  )
  const started = await make(inlay, {
    name: 'rebuild',
    as: 'admin',
    path: '/service-api/ingestion-reindex',
    method: 'POST',
    body: {},
  })
  expect(started.status).toBe(200)
  const moved = async (): Promise<number> => {
    const { rows } = await sql<{ count: number | string }>`select count(*) as count from inlay_documents
      where visible_generation like '1:%'`.execute(db)
    return Number(rows[0]!.count)
  }
  await expect.poll(moved, { timeout: 60_000 }).toBeGreaterThan(300)
  for (const path of ['/health/ready', '/service-api/ingestion-figures', '/manage/indexing-status'])
    await make(inlay, { name: path, as: 'admin', path })
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Plan Rows': number
  readonly Plans?: readonly PlanNode[]
}

/** Faults of a query plan: tables read in full, many rows sorted. A limit above bounds rows that are read in order. */
async function onPostgres(db: Kysely<unknown>, { sql: text, parameters }: CompiledQuery): Promise<string[]> {
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    CompiledQuery.raw(`explain (format json) ${text}`, [...parameters]),
  )
  const bad: string[] = []
  const visit = (node: PlanNode, isLimited: boolean): void => {
    const table = node['Relation Name'] ?? ''
    const kind = node['Node Type']
    if (kind === 'Seq Scan' && large.has(table) && !isLimited) bad.push(`reads all of ${table}`)
    if (/^Index(?: Only)? Scan$/.test(kind) && large.has(table) && !node['Index Cond'] && !isLimited)
      bad.push(`reads all of ${table} in order`)
    if (/Sort/.test(kind) && node['Plan Rows'] > maxSorted) bad.push(`sorts ${node['Plan Rows']} rows`)
    const limits = isLimited ? !/Sort|Aggregate|Hash/.test(kind) : kind === 'Limit'
    for (const child of node.Plans ?? []) visit(child, limits)
  }
  visit(rows[0]!['QUERY PLAN'][0].Plan, false)
  return bad
}

async function onSqlite(db: Kysely<unknown>, { sql: text, parameters }: CompiledQuery): Promise<string[]> {
  const { rows } = await db.executeQuery<{ detail: string }>(
    CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
  )
  const isLimited = /\blimit\b/i.test(text)
  const isSorted = rows.some(({ detail }) => /TEMP B-TREE FOR (ORDER|GROUP)/.test(detail))
  return rows
    .map(({ detail }) => detail)
    .filter((detail) => {
      const table = /^SCAN (\w+)/.exec(detail)?.[1]
      if (table === undefined || !large.has(aliasOf(text, table))) return false
      // In the order of an index, up to a limit.
      return !(isLimited && !isSorted && detail.includes('USING'))
    })
}

/** The table behind an alias of a statement. */
function aliasOf(text: string, alias: string): string {
  return new RegExp(`"?(inlay_\\w+)"? as "?${alias}"?\\b`, 'i').exec(text)?.[1] ?? alias
}
