import type { BaseFilters, IngestionDocument, Principal } from '@inlay/protocol'
import { migrateKnowledge } from '@inlay/knowledge'
import { postgres } from '@inlay/drivers/postgres'
import { Kysely, sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { linkStart } from '@inlay/knowledge/internal/search/linked-document'
import { makeKnowledge, makeRecords, request, section, startKnowledge } from '../setup.ts'

const ana: Principal = { id: 'ana', scopes: ['chat'] }

/** A document with a link, in sections of these texts. */
function linked(
  id: string,
  link: string,
  texts: readonly string[] = [`Text of ${id}.`],
  more: Partial<IngestionDocument> = {},
) {
  const sections = texts.map((text) => section(text, link))
  return request({ id, semantic_identifier: `Title of ${id}`, source: 'web', ...more, sections })
}

async function start(...requests: ReturnType<typeof linked>[]) {
  const fixture = await startKnowledge()
  for (const request of requests) await fixture.knowledge.accept(request, { waitMs: 60_000 })
  return fixture
}

test('the document with a link is given whole, in order, with what a passage tells', async () => {
  const long = Array.from({ length: 30 }, (_, at) => `Section ${at} says ${'something '.repeat(120)}and ends.`)
  const { knowledge } = await start(linked('d', 'https://wiki.example/d', long), linked('e', 'https://wiki.example/e'))
  const results = await knowledge.byLink({ link: 'https://wiki.example/d' })
  expect(results?.document).toMatchObject({
    document_id: 'd',
    semantic_identifier: 'Title of d',
    link: 'https://wiki.example/d',
    source_type: 'web',
    is_internet: false,
    score: null,
  })
  const order = long.map((_, at) => results?.content.indexOf(`Section ${at} says`) ?? -1)
  expect(order.every((place, at) => place > (order[at - 1] ?? -1))).toBe(true)
  expect(await knowledge.byLink({ link: 'https://wiki.example/none' })).toBeUndefined()
})

test('a place on the page and a last slash make no difference; anything else does', async () => {
  const { knowledge } = await start(linked('d', 'https://wiki.example/d'), linked('s', 'https://wiki.example/s/'))
  const idOf = async (link: string): Promise<string | undefined> =>
    (await knowledge.byLink({ link }))?.document.document_id
  for (const link of ['https://wiki.example/d#part', ' https://wiki.example/d/ ']) expect(await idOf(link)).toBe('d')
  expect(await idOf('https://wiki.example/s')).toBe('s')
  for (const link of ['https://wiki.example/d?x=1', 'https://wiki.example', '', '/', '%'])
    expect(await idOf(link)).toBe(undefined)
})

test('links that begin alike for a long time are told apart', async () => {
  const start400 = `https://wiki.example/${'x'.repeat(500)}`
  const { knowledge } = await start(linked('one', `${start400}1`), linked('two', `${start400}2`))
  expect((await knowledge.byLink({ link: `${start400}2` }))?.document.document_id).toBe('two')
})

test('a deleted document is not found, a changed one as it is now', async () => {
  const { knowledge } = await start(linked('d', 'https://wiki.example/d'), linked('e', 'https://wiki.example/e'))
  await knowledge.remove('d')
  await knowledge.accept(linked('e', 'https://wiki.example/e', ['New text.']), { waitMs: 60_000 })
  expect(await knowledge.byLink({ link: 'https://wiki.example/d' })).toBeUndefined()
  expect((await knowledge.byLink({ link: 'https://wiki.example/e' }))?.content).toBe('New text.')
})

test('who may not see it does not find it; a document set narrows', async () => {
  const { knowledge } = await start()
  const secret = await knowledge.pairs.create({ name: 'secret', isPublic: false, users: ['ben'] })
  await knowledge.documentSets.create({ name: 'HR', pairIds: [1] })
  await knowledge.accept({ ...linked('d', 'https://wiki.example/d'), cc_pair_id: secret.id }, { waitMs: 60_000 })
  const link = 'https://wiki.example/d'
  expect(await knowledge.byLink({ link, caller: ana })).toBeUndefined()
  const ben: Principal = { id: 'ben', scopes: ['chat'] }
  expect((await knowledge.byLink({ link, caller: ben }))?.document.document_id).toBe('d')
  expect(await knowledge.byLink({ link, caller: ben, filters: { document_set: ['HR'] } })).toBeUndefined()
  await expect(knowledge.byLink({ link, caller: ben, filters: { document_set: ['?'] } })).rejects.toMatchObject({
    code: 'INSUFFICIENT_PERMISSIONS',
  })
})

describe('filters bind as in a search', () => {
  const cases: readonly (readonly [BaseFilters, boolean])[] = [
    [{ source_type: ['web'] }, true],
    [{ source_type: ['slack'] }, false],
    [{ tags: [{ tag_key: 'team', tag_value: 'birds' }] }, true],
    [{ tags: [{ tag_key: 'team', tag_value: 'fish' }] }, false],
    [{ time_cutoff: '2026-02-01T00:00:00Z' }, true],
    [{ time_cutoff: '2026-03-01T00:00:00Z' }, false],
    [{ updated_at_range: { start: '2026-02-01T00:00:00Z', end: '2026-02-28T00:00:00Z' } }, true],
    [{ updated_at_range: { end: '2026-01-01T00:00:00Z' } }, false],
    [{ created_at_range: { start: '2020-01-01T00:00:00Z' } }, false],
  ]
  test.each(cases)('%j', async (filters, isFound) => {
    const more = { metadata: { team: 'birds' }, doc_updated_at: '2026-02-03T00:00:00Z' }
    const { knowledge } = await start(linked('d', 'https://wiki.example/d', ['Text of herons.'], more))
    const byLink = await knowledge.byLink({ link: 'https://wiki.example/d', filters })
    expect(byLink !== undefined).toBe(isFound)
    expect((await knowledge.search({ text: 'herons', filters, limit: 5 })).length > 0).toBe(isFound)
  })
})

test('a link is looked up in its index', async () => {
  const db = await makeRecords()
  const { rows } = await sql<{
    detail: string
  }>`explain query plan select id from inlay_documents where link <> '' and ${linkStart} in ('a', 'b') and link in ('a', 'b')`.execute(
    db,
  )
  expect(rows.map(({ detail }) => detail).join()).toContain('inlay_documents_link')
})

test('in Postgres, too, also links longer than an index row may be', async () => {
  const database = await startPostgres()
  const db: Records = new Kysely({ dialect: postgres({ pool: poolOf(database) }) })
  await migrateKnowledge(db)
  const { knowledge } = await makeKnowledge({ db })
  onTestFinished(async () => {
    await knowledge.close()
    await db.destroy()
    await database.close()
  })
  await knowledge.start()
  const long = `https://wiki.example/${'ü'.repeat(5_000)}`
  for (const item of [linked('short', 'https://wiki.example/s'), linked('long', long)])
    await knowledge.accept(item, { waitMs: 60_000 })
  expect((await knowledge.byLink({ link: 'https://wiki.example/s#x' }))?.content).toBe('Text of short.')
  expect((await knowledge.byLink({ link: long }))?.document.document_id).toBe('long')
})
