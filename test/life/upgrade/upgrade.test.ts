import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient, type Client } from '@inlay/client'
import { isInlayError } from '@inlay/protocol'
import { createInlay, type Inlay } from 'inlay'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testFolder } from '../harness.ts'
import { letterEmbedder } from './letter-embedder.ts'
import type { Manifest } from './manifest.ts'
import { unpack } from './unpack.ts'

const adminKey = 'key-of-the-operator'

interface Opened extends Manifest {
  readonly inlay: Inlay
  /** Texts of documents that were embedded since. */
  readonly embedded: string[]
  readonly errors: unknown[]
  as(key: string): Client
}

function open(archive: string): Opened {
  const { dataFolder, manifest } = unpack(archive)
  const errors: unknown[] = []
  const onError = (error: unknown): unknown => errors.push(error)
  const embedded: string[] = []
  const embed: typeof letterEmbedder.embed = (texts, use, signal) => {
    if (use === 'document') embedded.push(...texts)
    return letterEmbedder.embed(texts, use, signal)
  }
  const inlay = createInlay({ dataFolder, apiKey: adminKey, embedder: { ...letterEmbedder, embed }, onError })
  onTestFinished(() => inlay.close())
  const fetch = (input: string, init: RequestInit): Promise<Response> => inlay.fetch(new Request(input, init))
  const as = (apiKey: string): Client => createClient({ baseUrl: 'http://host.example/api', apiKey, fetch })
  return { ...manifest, inlay, embedded, errors, as }
}

const titles = async (client: Client, query: string): Promise<string[]> =>
  (await client.search(query)).results.map(({ title }) => title ?? '')

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'allowed',
    (error: unknown) => (isInlayError(error) ? error.code : error),
  )

/** Tables and indexes, without the space between their words and the quotes of their names. */
function schemaOf(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => db.close())
  const rows = db.prepare('select sql from sqlite_master where sql is not null order by name').all()
  return rows.map((row) => String(row['sql']).replaceAll('"', '').replace(/\s+/g, ' ').toLowerCase())
}

const archives = globSync('data-*.zip', { cwd: import.meta.dirname }).map((name) => join(import.meta.dirname, name))

describe.each(archives)('data of an earlier version, %s', (archive) => {
  test('its documents are found by those who may see them, the deleted one by nobody', async () => {
    const { as, key, boardKey, documents, embedded, errors } = open(archive)
    const ann = as(key)
    const queries = {
      leave: 'paid leave a year',
      urlaub: 'Überstunden',
      congés: 'congé parental',
      休假: '带薪年假',
      إجازة: 'إجازة سنوية',
    }
    expect(documents.toSorted()).toEqual(Object.keys(queries).toSorted())
    for (const [id, query] of Object.entries(queries)) expect((await titles(ann, query))[0], query).toBe(id)
    expect((await titles(ann, 'workshop rule machine 7'))[0]).toBe('Workshop rules')
    expect(await titles(as(boardKey), 'what the director earns')).toContain('Salaries')
    expect(await titles(ann, 'what the director earns')).not.toContain('Salaries')
    expect(await titles(as(adminKey), 'zeppelin mooring')).not.toContain('Gone')
    // The index is read as it is: nothing but what was still waiting is embedded.
    expect(embedded.filter((text) => !text.includes('ferry'))).toEqual([])
    expect(errors).toEqual([])
  })

  test('what was waiting to be indexed is indexed, and new documents join the old', async () => {
    const { as, inlay, key, errors } = open(archive)
    await inlay.knowledge.requeue()
    await expect
      .poll(async () => (await as(adminKey).documentState('pending')).state, { timeout: 60_000 })
      .toBe('indexed')
    expect(await titles(as(key), 'ferry at dawn')).toContain('Pending')
    const changed = {
      id: 'leave',
      semantic_identifier: 'leave',
      metadata: {},
      sections: [{ text: 'Staff receive 30 days of holiday.' }],
    }
    expect((await as(adminKey).ingest(changed, { waitSeconds: 60 })).already_existed).toBe(true)
    const contents = (await as(key).search('days staff receive')).results.map(({ content }) => content).join('\n')
    expect(contents).toContain('30 days of holiday')
    expect(contents).not.toContain('25 days of paid leave')
    expect(errors).toEqual([])
  })

  test('keys, sessions, files, projects, agents and memories are there, and the chat goes on', async () => {
    const { as, inlay, key, revokedKey, session, answer, file, persona, project, errors } = open(archive)
    const ann = as(key)
    expect(await codeOf(as(revokedKey).sessions.list())).toBe('INVALID_TOKEN')
    expect((await ann.sessions.list()).sessions.map(({ id, name }) => [id, name])).toContainEqual([session, 'Leave'])
    const before = await ann.sessions.get(session)
    expect(before.messages.map(({ message }) => message)).toContain(answer)
    // Kept for good; the run itself can be resumed for ten minutes only.
    const shown = before.packets.flat().map(({ obj }) => obj)
    expect(shown).toContainEqual(expect.objectContaining({ type: 'citation_info', document_id: 'leave' }))
    for (const query of ['leave', 'paid leave']) {
      const request = new Request(`http://host.example/api/chat/search?query=${query}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const { groups } = (await (await inlay.fetch(request)).json()) as { groups: { chats: { id: string }[] }[] }
      expect(groups.flatMap(({ chats }) => chats.map(({ id }) => id))).toContain(session)
    }
    const next = await ann.ask({ message: 'How many days of paid leave do staff receive?', chat_session_id: session })
    expect(next.answer).toContain('25 days of paid leave')
    expect(next.citation_info.map(({ document_id: id }) => id)).toContain('leave')
    expect((await ann.sessions.get(session)).messages).toHaveLength(before.messages.length + 2)
    expect(await (await ann.files.content(file)).text()).toContain('Soup is served at noon.')
    expect(await ann.projects.get(project)).toMatchObject({ project: { name: 'Lunch' } })
    expect(await ann.agents.get(persona)).toMatchObject({ name: 'Clerk' })
    expect((await ann.memories.list()).map(({ content }) => content)).toEqual(['Ann works in Bremen.'])
    expect(errors).toEqual([])
  })

  test('its tables become those of a new data folder', async () => {
    const { dataFolder } = unpack(archive)
    const fresh = testFolder()
    // What the version before needs goes a day after the upgrade.
    for (const [folder, days] of [
      [dataFolder, 0],
      [fresh, 0],
      [dataFolder, 2],
    ] as const) {
      const now = (): number => Date.now() + days * 86_400_000
      const inlay = createInlay({ dataFolder: folder, embedder: letterEmbedder, now })
      await inlay.start()
      await inlay.close()
    }
    expect(schemaOf(join(dataFolder, 'inlay.db'))).toEqual(schemaOf(join(fresh, 'inlay.db')))
  })
})

test('there is data of some version', () => {
  expect(archives).not.toEqual([])
})
