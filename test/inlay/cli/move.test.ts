import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { moveData, movedTables, openStores } from 'inlay/internal/parts/move-data'
import { migrateAll } from 'inlay/internal/parts/open-tables'
import { openKeys } from 'inlay/internal/parts/open-keys'
import { operator } from '@inlay/protocol'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

const key = 'inlay_key-of-the-move-test'

function open(dataFolder: string, options: InlayOptions = {}): Inlay {
  const inlay = createInlay({ dataFolder, apiKey: key, worker: { lingerMs: 0 }, onError: () => {}, ...options })
  onTestFinished(() => inlay.close())
  return inlay
}

const post = (inlay: Inlay, path: string, body: object): Promise<Response> =>
  inlay.fetch(
    new Request(`http://inlay.test/api${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

const accept = (inlay: Inlay, id: string, text: string) =>
  inlay.knowledge.accept({
    document: { id, semantic_identifier: id, sections: [{ text }], metadata: { kind: 'bird' } },
  })

/** A data folder with a document, a session and a file, and an installation on it. */
async function filled(): Promise<{ folder: string; inlay: Inlay; fileId: string; sessionId: string }> {
  const folder = join(temporaryFolder().path, 'old')
  const inlay = open(folder)
  await accept(inlay, 'heron', 'The heron waits.')
  await inlay.knowledge.whenIdle()
  const answer = await post(inlay, '/chat/send-chat-message', { message: 'What does the heron do?', stream: false })
  const { chat_session_id: sessionId } = (await answer.json()) as { chat_session_id: string }
  const bytes = new Blob(['a,b\n1,2\n']).stream()
  const { id: fileId } = await inlay.agent.files.keep({ name: 'a.csv', mediaType: 'text/csv', bytes }, operator)
  return { folder, inlay, fileId, sessionId }
}

async function run(folder: string, ...words: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const code = await runCommandLine(['move', ...words], {
    env: () => ({ INLAY_DATA: folder }),
    stdout: { write: (part) => (out += part) },
    stderr: { write: (part) => (err += part) },
    signal: new AbortController().signal,
  })
  return { code, out, err }
}

function settingsFile(lines: Readonly<Record<string, string>>): string {
  const path = join(temporaryFolder().path, 'new.env')
  writeFileSync(
    path,
    Object.entries(lines)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  return path
}

test('moves to another folder, refuses writes at the old one, and goes back with --cancel', async () => {
  const { folder, inlay, fileId, sessionId } = await filled()
  const target = join(temporaryFolder().path, 'new')
  const moved = await run(folder, '--to', settingsFile({ INLAY_DATA: target }), '--json')
  expect(moved.code, moved.err).toBe(0)
  expect(JSON.parse(moved.out)).toMatchObject({
    rows: { inlay_documents: 1, inlay_chat_sessions: 1, inlay_chat_messages: 3, inlay_files: 1 },
    documentsWithoutPassages: 0,
    filesWithoutBytes: 0,
  })

  const refused = await post(inlay, '/chat/create-chat-session', {})
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
  expect((await inlay.knowledge.search({ text: 'heron' })).length).toBe(1)
  await expect(open(folder).start()).rejects.toThrow(`This data was moved to the data folder ${target}`)

  const next = open(target)
  const [passage] = await next.knowledge.search({
    text: 'heron',
    filters: { tags: [{ tag_key: 'kind', tag_value: 'bird' }] },
  })
  expect(passage?.content).toContain('The heron waits.')
  const { bytes } = await next.agent.files.openById(fileId)
  expect(await new Response(bytes).text()).toBe('a,b\n1,2\n')
  const session = await next.fetch(
    new Request(`http://inlay.test/api/chat/get-chat-session/${sessionId}`, {
      headers: { authorization: `Bearer ${key}` },
    }),
  )
  expect(await session.text()).toContain('What does the heron do?')
  expect(await next.knowledge.pairs.list()).toEqual(await inlay.knowledge.pairs.list())

  expect(await run(folder, '--cancel')).toMatchObject({ code: 0, out: 'Writes are accepted here again.\n' })
  expect((await post(inlay, '/chat/create-chat-session', {})).status).toBe(200)
  expect((await run(folder, '--cancel')).out).toBe('There is no move to cancel.\n')
})

test('an interrupted move lets writes go on, keeps the new place closed, and then goes on with what changed', async () => {
  const { folder, inlay } = await filled()
  const target = join(temporaryFolder().path, 'new')
  const [from, to] = [
    await openStores({ dataFolder: folder }, () => {}),
    await openStores({ dataFolder: target }, () => {}),
  ]
  const stop = new AbortController()
  const halfway = moveData(from, to, {
    places: { from: 'here', to: 'there' },
    signal: stop.signal,
    onStep: (what) => () => (what === 'Comparing' ? stop.abort() : undefined),
  })
  await expect(halfway).rejects.toThrow('aborted')
  await from.close()
  await to.close()
  await expect(open(target).start()).rejects.toThrow('The move of the data of here to this database is not complete')
  await accept(inlay, 'heron', 'The heron flies.')
  await accept(inlay, 'otter', 'The otter swims.')
  await inlay.knowledge.whenIdle()
  const moved = await run(folder, '--to', settingsFile({ INLAY_DATA: target }))
  expect(moved.code, moved.err).toBe(0)
  const next = open(target)
  expect((await next.knowledge.search({ text: 'heron waits' })).map(({ content }) => content).join()).not.toContain(
    'waits',
  )
  expect((await next.knowledge.search({ text: 'otter' })).length).toBe(1)
  const { index, documents } = await next.knowledge.figures()
  expect([index.rows, documents.indexed]).toEqual([2, 2])
})

test.each<[string, (folder: string) => Promise<Record<string, string>> | Record<string, string>, string]>([
  ['the same database', (folder) => ({ INLAY_DATA: folder }), 'the new settings have the same database'],
  ['a used one', async () => ({ INLAY_DATA: (await filled()).folder }), 'the new database is not empty: inlay_'],
  [
    'one with a source of documents alone',
    async () => {
      const target = join(temporaryFolder().path, 'pairs')
      const { db, close } = await openStores({ dataFolder: target }, () => {})
      await migrateAll(db, 'expand')
      await sql`insert into inlay_pairs values (7, 'birds', 1, 0, 0, 0)`.execute(db)
      await close()
      return { INLAY_DATA: target }
    },
    'the new database is not empty: inlay_pairs',
  ],
  [
    'one whose data is moved elsewhere',
    async () => {
      const { folder } = await filled()
      await run(folder, '--to', settingsFile({ INLAY_DATA: join(temporaryFolder().path, 'new') }))
      return { INLAY_DATA: folder }
    },
    'the new database is not empty: data that is moved elsewhere',
  ],
  [
    'another embedding model',
    () => ({
      INLAY_DATA: temporaryFolder().path,
      INLAY_EMBEDDING_MODEL: 'a-model',
      INLAY_EMBEDDING_BASE_URL: 'http://127.0.0.1:9/v1',
      INLAY_EMBEDDING_DIMENSIONS: '8',
    }),
    'the documents use none, but the new settings specify',
  ],
  [
    'a server that is not there',
    () => ({ INLAY_DATABASE_URL: 'postgres://inlay@127.0.0.1:9/inlay', INLAY_INDEX_URL: 'folder' }),
    'Database: The database does not respond',
  ],
  [
    'another secret',
    () => ({ INLAY_DATA: temporaryFolder().path, INLAY_SECRET_KEY: 'another-key-of-many-characters-0123' }),
    'the new settings have another INLAY_SECRET_KEY',
  ],
])('--check says that the target is %s', async (_, settings, message) => {
  const { folder, inlay } = await filled()
  const checked = await run(folder, '--check', '--to', settingsFile(await settings(folder)))
  expect([checked.code, checked.out]).toEqual([1, expect.stringContaining(message)])
  expect((await post(inlay, '/chat/create-chat-session', {})).status).toBe(200)
})

test('wrong calls say what to do', async () => {
  const { folder } = await filled()
  expect((await run(folder)).err).toContain('Specify either --to <settings file> or --cancel.')
  expect((await run(folder, '--to', join(folder, 'none.env'))).err).toContain('none.env cannot be read (ENOENT)')
  expect((await run(folder, '--to', settingsFile({ INLAY_DATABASE_URL: 'mysql://x' }))).err).toContain(
    'INLAY_DATABASE_URL',
  )
})

/** Two stores of a move, and the same for another process. */
async function stores(folder: string, target: string) {
  const open = (dataFolder: string) => openStores({ dataFolder }, () => {})
  const [from, to] = [await open(folder), await open(target)]
  onTestFinished(async () => void (await Promise.all([from.close(), to.close()])))
  return { from, to }
}

const moving = { places: { from: 'here', to: 'there' }, signal: new AbortController().signal, onStep: () => () => {} }

test('a move that another process starts again ends, so that no write is lost between the two', async () => {
  const { folder, inlay } = await filled()
  const target = join(temporaryFolder().path, 'new')
  const [first, second] = [await stores(folder, target), await stores(folder, target)]
  const started = Promise.withResolvers<void>()
  let again: Promise<unknown> | undefined
  let uncounted = (await movedTables(first.from.db)).length
  // Rows of the new place are counted when everything is there and writes are refused.
  const db = first.to.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (result.rows[0]?.['count'] === undefined || --uncounted > 0) return result
      again = moveData(second.from, second.to, { ...moving, onStep: () => (started.resolve(), () => {}) })
      await started.promise
      await accept(inlay, 'otter', 'The otter swims.')
      return result
    },
  })
  await expect(moveData(first.from, { ...first.to, db }, moving)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await again).toMatchObject({ rows: { inlay_documents: 2 } })
})

test('moves data whose tables still have a column that only the version before used', async () => {
  const { folder } = await filled()
  const { from, to } = await stores(folder, join(temporaryFolder().path, 'new'))
  await sql`alter table inlay_documents add column earlier text`.execute(from.db)
  expect((await moveData(from, to, moving)).rows).toMatchObject({ inlay_documents: 1 })
})

test('an unfinished move to one place neither goes on at another one, nor makes that usable', async () => {
  const { folder, inlay } = await filled()
  const [left, next] = [join(temporaryFolder().path, 'left'), join(temporaryFolder().path, 'next')]
  const { from, to } = await stores(folder, left)
  const halfway = { ...moving, signal: AbortSignal.abort() }
  await expect(moveData(from, to, halfway)).rejects.toThrow('aborted')
  expect((await run(folder, '--to', settingsFile({ INLAY_DATA: next }))).code).toBe(0)
  expect((await run(folder, '--to', settingsFile({ INLAY_DATA: left }))).code).toBe(1)
  await expect(open(left).start()).rejects.toThrow('is not complete')
  await expect(openKeys({ dataFolder: left }, () => {})).rejects.toThrow('is not complete')
  expect((await run(left, '--to', settingsFile({ INLAY_DATA: next }))).out).toContain('the data is not all here yet')
  await inlay.close()
})

test('--check says that a server uses the target', async () => {
  const { folder } = await filled()
  const target = join(temporaryFolder().path, 'new')
  await open(target).start()
  const checked = await run(folder, '--check', '--to', settingsFile({ INLAY_DATA: target }))
  expect([checked.code, checked.out]).toEqual([1, expect.stringContaining('a server uses the new database')])
})
