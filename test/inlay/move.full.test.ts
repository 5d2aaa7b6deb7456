import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { operator } from '@inlay/protocol'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { moveData, openStores } from 'inlay/internal/parts/move-data'
import { readSettings } from 'inlay/internal/settings/read-settings'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../knowledge/postgres-server.ts'
import { temporaryFolder } from '../life/process.ts'
import { startEmbeddings, type EmbeddingsStandIn } from '../stand-in/embeddings.ts'
import { listen } from '../stand-in/loopback.ts'

let server: PostgresServer
let embeddings: EmbeddingsStandIn
beforeAll(async () => {
  server = await startPostgres()
  embeddings = await startEmbeddings()
})
afterAll(async () => {
  await embeddings.close()
  await server.stop()
})

const apiKey = 'inlay_key-of-the-move-test'
const settings = (more: Readonly<Record<string, string>>): Record<string, string> => ({
  INLAY_EMBEDDING_MODEL: 'stand-in',
  INLAY_EMBEDDING_BASE_URL: embeddings.baseUrl,
  INLAY_EMBEDDING_DIMENSIONS: String(embeddings.dimensions),
  ...more,
})

/** An installation with these settings, until it is closed or the test ends. */
function open(env: Readonly<Record<string, string>>, more: InlayOptions = {}): Inlay {
  const options = { ...readSettings(env).options, apiKey, worker: { lingerMs: 0 }, onError: () => {}, ...more }
  const inlay = createInlay(options)
  onTestFinished(() => inlay.close())
  return inlay
}

async function call(inlay: Inlay, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  return inlay.fetch(new Request(`http://inlay.test/api${path}`, init))
}

const accept = (inlay: Inlay, at: number, words = '') =>
  inlay.knowledge.accept({
    document: {
      id: `d${at}`,
      semantic_identifier: `Animal ${at}`,
      sections: [{ text: `Animal${at} is kept in house ${at}. ${words}`, link: `https://zoo.test/${at}` }],
      metadata: { house: String(at % 3) },
      doc_updated_at: new Date(1_700_000_000_000 + at * 60_000).toISOString(),
    },
  })

const upload = (inlay: Inlay, name: string) =>
  inlay.agent.files.keep(
    { name, mediaType: 'text/csv', bytes: new Blob([`name\n${name}\n`.repeat(9)]).stream() },
    operator,
  )

async function fill(inlay: Inlay): Promise<void> {
  for (let at = 0; at < 30; at++) await accept(inlay, at)
  // In several chunks, with metadata that is too large for their rows.
  const sections = Array.from({ length: 12 }, (_, at) => ({
    text: `Part ${at} of the whale, hall${at}mark. `.repeat(50),
    heading: `Part ${at}`,
  }))
  const metadata = { notes: Array.from({ length: 90 }, (_, at) => `remark number ${at}`) }
  await inlay.knowledge.accept({ document: { id: 'whale', semantic_identifier: 'The whale', sections, metadata } })
  await inlay.knowledge.whenIdle()
  for (const at of [1, 2])
    await call(inlay, '/chat/send-chat-message', { message: `Where is animal${at}?`, stream: false })
  for (const name of ['a.csv', 'b.csv']) await upload(inlay, name)
}

/** What people see of an installation. */
async function seen(inlay: Inlay): Promise<object> {
  const { sessions } = (await (await call(inlay, '/chat/get-user-chat-sessions')).json()) as {
    sessions: { id: string }[]
  }
  const chats = await Promise.all(
    sessions.map(async ({ id }) => (await call(inlay, `/chat/get-chat-session/${id}`)).json() as Promise<object>),
  )
  const { documents } = await inlay.knowledge.list({ limit: 1000, withTags: true })
  const whale = await inlay.knowledge.chunks({ documentId: 'whale', first: 0, limit: 64 })
  const { files, lost } = await inlay.agent.files.check(new AbortController().signal)
  return { chats, documents, whale, files, lost, pairs: await inlay.knowledge.pairs.list() }
}

/** The first hits, with and without a filter; new words, so that a vector is made for each. */
async function searches(inlay: Inlay): Promise<string[][]> {
  const ask = async (text: string, tag?: string): Promise<string[]> => {
    const filters = tag === undefined ? null : { tags: [{ tag_key: 'house', tag_value: tag }] }
    return (await inlay.knowledge.search({ text, filters, limit: 3 })).map(({ content }) => content)
  }
  return Promise.all([ask('animal7'), ask('hall7mark'), ask('where is house 11', '2'), ask('animal7', '0')])
}

/** Texts of documents that were embedded, after so many requests. */
const embeddedSince = (count: number): string[] =>
  embeddings.seen.slice(count).flatMap(({ body }) => body.input.filter((text) => /kept in house|Part \d/.test(text)))

/** A bucket that can be watched. */
async function startBucket() {
  const values = new Map<string, Buffer>()
  const watch: { on: (method: string, key: string) => Promise<void> } = { on: async () => {} }
  const { origin, close } = await listen(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const [method, key] = [request.method!, request.url!]
    if (!key.includes('move-check')) await watch.on(method, key)
    if (method === 'PUT') values.set(key, Buffer.concat(parts))
    if (method === 'DELETE') values.delete(key)
    const value = values.get(key)
    if (method === 'GET' && value === undefined) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
    else response.end(method === 'GET' ? value : undefined)
  })
  onTestFinished(close)
  return { origin, values, watch }
}

/** Starts `inlay move` as a process of its own. */
function startMove(env: Readonly<Record<string, string>>, to: Readonly<Record<string, string>>) {
  const file = join(temporaryFolder().path, 'new.env')
  writeFileSync(
    file,
    Object.entries(to)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  const cli = join(import.meta.dirname, '../../packages/inlay/src/cli.ts')
  const child = spawn(process.execPath, ['--conditions=@inlay/source', cli, 'move', '--to', file, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], LANCEDB_LOG: 'error', ...env },
    // Without a file .env.
    cwd: temporaryFolder().path,
  })
  const text = { out: '', err: '' }
  child.stdout.on('data', (part) => (text.out += part))
  child.stderr.on('data', (part) => (text.err += part))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { text, ended, kill: () => child.kill('SIGKILL') }
}

test('SQLite to PostgreSQL and a bucket while people write, killed in every phase, and back', async () => {
  const { origin, watch, values } = await startBucket()
  const [here, there, back] = ['old', 'new', 'back'].map((name) => join(temporaryFolder().path, name))
  const old = settings({ INLAY_DATA: here! })
  const next = settings({
    INLAY_DATA: there!,
    INLAY_DATABASE_URL: await server.takeDatabase(),
    INLAY_INDEX_URL: 'folder',
    INLAY_FILES_URL: 's3://bucket/inlay',
    INLAY_S3_ENDPOINT: origin,
    INLAY_S3_ACCESS_KEY_ID: 'id',
    INLAY_S3_SECRET_ACCESS_KEY: 'secret',
  })
  const source = open(old)
  await fill(source)
  const newChat = (): Promise<Response> => call(source, '/chat/create-chat-session', {})

  // Killed while it copies.
  let run = startMove(old, next)
  watch.on = async (method) => void (method === 'PUT' && run.kill())
  expect(await run.ended, run.text.err).toBe(null)
  await accept(source, 3, 'Changed after a kill.')
  await source.knowledge.remove('d4')
  await source.knowledge.whenIdle()

  // Killed while it compares.
  watch.on = async () => void (run.text.err.includes('Comparing') && run.kill())
  run = startMove(old, next)
  expect(await run.ended, run.text.err).toBe(null)

  // Killed while writes are refused: the second file is added while the last changes but that one are copied.
  let added: string | undefined
  let refused: Response | undefined
  watch.on = async (method, key) => {
    if (!run.text.err.includes('Comparing')) return
    if (added === undefined) {
      added = ''
      const { fileId } = await upload(source, 'late.csv')
      await accept(source, 30)
      added = fileId
    } else if (method === 'PUT' && key.includes(added)) {
      added = (await upload(source, 'latest.csv')).fileId
      if (refused !== undefined) return
      watch.on = async (next, later) => {
        if (next !== 'PUT' || !later.includes(added!)) return
        refused = await newChat()
        run.kill()
      }
    }
  }
  run = startMove(old, next)
  expect(await run.ended, run.text.err).toBe(null)
  expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '5'])
  // Still, without the command.
  expect((await newChat()).status).toBe(503)
  expect((await source.knowledge.search({ text: 'animal7' })).length).toBeGreaterThan(0)

  watch.on = async () => {}
  run = startMove(old, next)
  expect(await run.ended, run.text.err).toBe(0)
  expect(JSON.parse(run.text.out)).toMatchObject({ documentsWithoutPassages: 0, filesWithoutBytes: 0 })
  expect((await newChat()).status).toBe(503)
  expect(values.size).toBe(4)

  const before = await seen(source)
  const hits = await searches(source)
  await source.close()
  const texts = embeddings.seen.length
  await expect(open(old).start()).rejects.toThrow('This data was moved to Records: postgres://127.0.0.1')
  const moved = open(next)
  await moved.knowledge.whenIdle()
  const { documents: count, index } = await moved.knowledge.figures()
  expect([count.indexed, count.failed]).toEqual([31, 0])
  expect(await moved.knowledge.compareIndex(new AbortController().signal)).toMatchObject({ missing: [], unknown: [] })
  expect(await searches(moved)).toEqual(hits)
  expect(await seen(moved)).toEqual(before)

  // And back, with what was written there.
  await moved.agent.files.keep({ name: 'c.csv', mediaType: 'text/csv', bytes: new Blob(['c']).stream() }, operator)
  const home = settings({ INLAY_DATA: back! })
  const latest = await seen(moved)
  run = startMove(next, home)
  expect(await run.ended, run.text.err).toBe(0)
  const returned = open(home)
  expect(await seen(returned)).toEqual(latest)
  expect((await returned.knowledge.figures()).index.rows).toBe(index.rows)
  expect(embeddedSince(texts)).toEqual([])
  expect(await searches(returned)).toEqual(hits)
})

test('passages and vectors go from LanceDB to pgvector and back as they are', async () => {
  const database = await PGlite.create({ extensions: { vector } })
  onTestFinished(() => database.close())
  const [here, there, back] = ['old', 'new', 'back'].map((name) => join(temporaryFolder().path, name))
  const source = open(settings({ INLAY_DATA: here! }))
  await fill(source)
  // Another space than the first, whose index has a number in its name.
  await source.knowledge.reindex()
  await source.knowledge.whenIdle()
  const [whole, hits] = [await seen(source), await searches(source)]
  await source.close()
  const count = embeddings.seen.length
  const stores = async (folder: string, isInPostgres: boolean) => {
    const opened = await openStores(readSettings(settings({ INLAY_DATA: folder })).options, () => {})
    onTestFinished(() => opened.close())
    if (!isInPostgres) return opened
    return { ...opened, index: pgvectorIndex({ client: database }), places: { ...opened.places, index: 'pgvector' } }
  }
  const between = async (from: string, to: string, isFromPostgres: boolean): Promise<void> => {
    const { documentsWithoutPassages } = await moveData(
      await stores(from, isFromPostgres),
      await stores(to, !isFromPostgres),
      { places: { from, to }, signal: new AbortController().signal, onStep: () => () => {} },
    )
    expect(documentsWithoutPassages).toBe(0)
  }
  await between(here!, there!, false)
  const inPostgres = open(settings({ INLAY_DATA: there! }), { index: pgvectorIndex({ client: database }) })
  expect(await seen(inPostgres)).toEqual(whole)
  // Another engine orders some passages otherwise, but the first ones.
  const first = (lists: string[][]): unknown[] => lists.flatMap((list, at) => (at === 1 ? [] : [list[0]]))
  expect(first(await searches(inPostgres))).toEqual(first(hits))
  await inPostgres.close()
  await between(there!, back!, true)
  const returned = open(settings({ INLAY_DATA: back! }))
  expect(await seen(returned)).toEqual(whole)
  expect(embeddedSince(count)).toEqual([])
  expect(await searches(returned)).toEqual(hits)
})
