/**
 * Fills the records of an installation, on SQLite or PostgreSQL, and times at each size what people and operators do:
 * so many messages, a tenth as many sessions of a thousand people, and as many documents and audit events, at most a
 * million of each. Beyond the first size each time is told as a multiple of the first: the bar is 2.
 *
 *   npm run -w test/rigs bench:records -- [--on sqlite|postgres] [--sizes 100000,1000000] [--tries 60] [--sends 200]
 *                            [--out <file>] [--quick]
 *
 * PostgreSQL is the server of `INLAY_BENCH_POSTGRES`. `--out` appends each size as a line of JSON, for
 * `npm run -w test/rigs docs:sizes`.
 */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { scriptedModel, type Script, type ScriptStep } from '@inlay/agent/testing'
import { eraseExpired } from '@inlay/conversations/internal/sessions/retention'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import type { VectorIndex } from '@inlay/knowledge'
import { encodeChunkMetadata } from '@inlay/knowledge/internal/chunking/chunk-metadata'
import { tableSizes, type AnyDatabase } from '@inlay/records'
import { createAuditLog } from '@inlay/server/internal/administration/audit-log'
import type { Inlay } from 'inlay'
import { Kysely, sql, type Dialect } from 'kysely'
import { leaveOut, note } from '../bench/figures.ts'
import { inParallel } from '../bench/ingestion/fixture.ts'
import { percentile, timeEach, timesLine, type Times } from '../bench/timing.ts'
import { memoryIndex } from '../knowledge/memory-index.ts'
import { letterEmbedder } from '../life/upgrade/letter-embedder.ts'
import { createRowSource } from './million/rows.ts'
import { busyOwner, fillRecords, type Filling } from './scale/filled-records.ts'
import { get, make, post, serviceOver, type Call } from './scale/list-calls.ts'

const { values: options } = parseArgs({
  options: {
    on: { type: 'string', default: 'sqlite' },
    sizes: { type: 'string' },
    tries: { type: 'string' },
    sends: { type: 'string' },
    out: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const isPostgres = options.on === 'postgres'
const sizes = (options.sizes ?? (options.quick ? '1000,2000' : '100000,1000000')).split(',').map(Number)
const tries = Number(options.tries ?? (options.quick ? 5 : 60))
const sends = Number(options.sends ?? (options.quick ? 10 : 200))
const bar = 2
/** Characters of an answer of 300 tokens. */
const answerCharacters = 1_500
const first = new Map<string, number>()

if (options.quick) leaveOut('more than 2,000 messages, and PostgreSQL')
for (const size of sizes) await measure(size)

async function measure(messages: number): Promise<void> {
  const others = Math.min(messages, 1_000_000)
  const rows = { documents: others, sessions: messages / 10, messages, auditRows: others }
  const filling = { ...rows, pairs: 500, answerCharacters }
  const folder = mkdtempSync(join(tmpdir(), 'inlay-records-'))
  const database = isPostgres ? await newDatabase() : undefined
  const dialect = (): Dialect => database?.dialect() ?? nodeSqlite({ file: join(folder, 'inlay.db') })
  const db: AnyDatabase = new Kysely({ dialect: dialect() })
  const inlay = serviceOver(dialect(), folder, { ...talkative(), index: filledIndex(filling) })
  try {
    await inlay.start()
    const begun = performance.now()
    await fillRecords(db, filling, isPostgres)
    const rate = Object.values(rows).reduce((sum, count) => sum + count) / ((performance.now() - begun) / 1000)
    await lengthen(db, filling)
    const bytes = await bytesOf(db)
    console.log(`${options.on}, ${messages} messages: ${Math.round(rate)} records/s, MB: ${JSON.stringify(bytes)}`)
    const reads = await timeCalls(inlay, filling)
    const { times, ...turns } = await timeTurns(inlay, db)
    report({ on: options.on, size: messages, rate, bytes, ...turns }, [
      ...reads,
      ...times,
      ...(await timeUpkeep(db, filling)),
    ])
  } finally {
    await inlay.close()
    await db.destroy()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function newDatabase() {
  const address = process.env['INLAY_BENCH_POSTGRES']
  if (address === undefined) throw new Error('set INLAY_BENCH_POSTGRES to the address of a server')
  const name = `inlay_records_${process.pid}`
  const administer = async (statement: string): Promise<void> => {
    const admin = new Kysely<unknown>({ dialect: postgres({ connectionString: address, maxConnections: 1 }) })
    await admin.executeQuery(sql.raw(statement).compile(admin)).finally(() => admin.destroy())
  }
  await administer(`create database ${name}`)
  const connectionString = new URL(`/${name}`, address).href
  return { dialect: () => postgres({ connectionString }), drop: () => administer(`drop database ${name}`) }
}

/** A model that searches, then says 300 tokens at once. */
function talkative() {
  const words = Array.from({ length: 300 }, (_, at) => (at === 299 ? '[1].' : `w${at} `))
  const search: ScriptStep = [{ call: { name: 'internal_search', input: { queries: ['report'] } } }]
  const script: Script = ({ prompt }) => (prompt.at(-1)?.role === 'tool' ? words : search)
  return { model: scriptedModel(script), sessionNames: 'off', localModels: false } as const
}

/** Fifty documents can be found; the index says that it has the others as well, so that none is indexed meanwhile. */
function filledIndex({ documents }: Filling): VectorIndex {
  const { inspect: _inspect, mark: _mark, ...index } = memoryIndex()
  for (const [at, row] of createRowSource(0).rows(50).entries()) {
    // Each fifth is in the default pair.
    const [id, text] = [`-${5 * (at + 1)}`, `A report: ${row.text}`]
    const names = { documentId: `document${id}`, generation: `generation${id}`, pairs: [1] }
    const chunkMetadata = encodeChunkMetadata({ semanticIdentifier: `A report about title${id}` })
    const vector = new Float32Array(letterEmbedder.dimensions)
    index.store.rows.push({ ...row, ...names, chunkMetadata, text, searchText: text, vector })
  }
  const eachGeneration = async (listener: (generations: readonly string[]) => void): Promise<void> => {
    for (let from = 1; from <= documents; from += 1_000)
      listener(Array.from({ length: 1_000 }, (_, at) => `generation-${from + at}`))
  }
  return { ...index, eachGeneration }
}

/** The newest session, which is the busy owner's. */
function longSession({ sessions }: Filling): string {
  return `00000000-0000-4000-8000-${String(sessions).padStart(12, '0')}`
}

/** Gives that session 50 messages. */
async function lengthen(db: AnyDatabase, filling: Filling): Promise<void> {
  for (let at = 10, parent = filling.messages - 1; at < 50; at++) {
    const { rows } = await sql<{ id: number }>`insert into inlay_chat_messages
      (session_id, parent_id, role, status, created_at, text) values (${longSession(filling)}, ${parent},
        ${at % 2 === 1 ? 'user' : 'assistant'}, 'done', ${at}, ${'word '.repeat(150)}) returning id`.execute(db)
    parent = Number(rows[0]!.id)
  }
}

type Bytes = Readonly<Record<'documents' | 'conversations' | 'audit', number>>

async function bytesOf(db: AnyDatabase): Promise<Bytes> {
  if (isPostgres) await sql`vacuum analyze`.execute(db)
  const sizes = await tableSizes(db, { readsAll: true })
  const bytes = { documents: 0, conversations: 0, audit: 0 }
  for (const { table, bytes: own } of sizes)
    bytes[table.startsWith('inlay_chat') ? 'conversations' : table === 'inlay_audit' ? 'audit' : 'documents'] +=
      own ?? 0
  return bytes
}

type Timed = readonly (readonly [name: string, times: Times])[]

/** Each call for another person, word, document or caller at each try, after three to warm it up. */
async function timeCalls(inlay: Inlay, filling: Filling): Promise<Timed> {
  const { messages, documents } = filling
  const list = '/service-api/ingestion'
  const calls: Readonly<Record<string, (at: number) => Call>> = {
    'list of sessions': (at) => get('/chat/get-user-chat-sessions', person(at)),
    'the same, of a quarter of all': () => get('/chat/get-user-chat-sessions', busyOwner),
    'session of 50 messages': () => get(`/chat/get-chat-session/${longSession(filling)}`, busyOwner),
    'search of sessions, rare word': (at) => get(`/chat/search?query=said${messages - 1 - 4 * at}`, busyOwner),
    'search of sessions, word in all': (at) => get('/chat/search?query=report', at % 2 ? busyOwner : person(at)),
    'documents, the newest 50': () => get(`${list}?order=newest&limit=50`),
    'documents by a word of the title': (at) => get(`${list}?match=title${documents - 7 * at}`),
    'audit, the newest 100': () => get('/admin/audit?limit=100'),
    'audit of one caller': (at) => get(`/admin/audit?caller_id=caller-${at % 50}&limit=100`),
  }
  const timed: (readonly [string, Times])[] = []
  for (const [name, call] of Object.entries(calls)) {
    const once = (at: number): Promise<void> => makeWell(inlay, call(at), 100)
    await timeEach(3, once)
    timed.push([name, await timeEach(tries, (at) => once(at + 3))])
  }
  return timed
}

function person(at: number): string {
  return `owner-${13 + 4 * (at % 240)}`
}

async function makeWell(inlay: Inlay, call: Call, leastBytes: number): Promise<void> {
  const { status, bytes } = await make(inlay, call)
  if (status !== 200 || bytes < leastBytes) throw new Error(`${call.name}: status ${status}, ${bytes} bytes`)
}

/** Questions with a search, one after the other and then eight people at once, and what each takes on the disk. */
async function timeTurns(inlay: Inlay, db: AnyDatabase) {
  const body = { message: 'What does the report say?', stream: false }
  const ask = (at: number): Promise<void> => makeWell(inlay, post('/chat/send-chat-message', body, person(at)), 10_000)
  await timeEach(tries, ask)
  const alone = await timeEach(tries, ask)
  const before = await bytesOf(db)
  const begun = performance.now()
  const eight = await inParallel(8, Array.from({ length: sends }).keys(), ask)
  const turnRate = sends / ((performance.now() - begun) / 1000)
  const turnBytes = ((await bytesOf(db)).conversations - before.conversations) / sends
  console.log(
    `  ${turnRate.toFixed(0)} turns/s of 8 people at once, ${(turnBytes / 1000).toFixed(1)} kB on the disk for each`,
  )
  return {
    times: [
      ['turn', alone],
      ['turn, 8 at once', eight],
    ] as Timed,
    turnRate,
    turnBytes,
  }
}

async function timeUpkeep(db: AnyDatabase, { sessions }: Filling): Promise<Timed> {
  const parts = { db, agent: { removeRuns: async () => {} }, files: { removeUnheld: async () => 0 } }
  const audit = createAuditLog({ db })
  const expiry = { unchangedSince: sessions / 2, limit: 20 }
  const few = Math.ceil(tries / 4)
  return [
    ['retention, 20 sessions', await timeEach(few, () => eraseExpired(parts, expiry))],
    ['retention, 500 audit events', await timeEach(few, () => audit.removeBefore(Date.now(), 500))],
    ['sizes of tables, for metrics', await timeEach(few, () => tableSizes(db))],
    ['`doctor --tables`', await timeEach(3, () => tableSizes(db, { readsAll: true }))],
  ]
}

function report(point: object, timed: Timed): void {
  const times: Record<string, { p50: number; p95: number }> = {}
  for (const [name, measured] of timed) {
    const [p50, p95] = [percentile(measured, 0.5), percentile(measured, 0.95)]
    times[name] = { p50, p95 }
    const base = first.get(name)
    if (base === undefined) first.set(name, p50)
    else note(`records, ${options.on}, ${name}, p50 over the smaller size`, p50 / base)
    const ratio = base === undefined ? '' : `  × ${(p50 / base).toFixed(2)}${p50 > bar * base ? ` (bar ${bar})` : ''}`
    console.log(timesLine(`  ${name}`, measured) + ratio)
  }
  if (options.out !== undefined) appendFileSync(options.out, `${JSON.stringify({ ...point, times })}\n`)
}
