import type { Caller, Knowledge } from '@inlay/knowledge'
import type { BaseFilters } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { memoryIndex } from '../memory-index.ts'
import { makeKnowledge, request, section, startKnowledge } from '../setup.ts'

const idsOf = async (knowledge: Knowledge, filters: BaseFilters = {}, caller?: Caller): Promise<string[]> => {
  const passages = await knowledge.search({ text: 'common', filters, caller, limit: 50 })
  return passages.map(({ document }) => document.document_id).toSorted()
}

/** Documents that differ in one thing each, all found by `common`. */
async function makeLibrary(
  ...documents: (NonNullable<Parameters<typeof request>[0]> & { pairId?: number })[]
): Promise<Knowledge> {
  const { knowledge } = await startKnowledge()
  for (const { pairId, ...document } of documents)
    await knowledge.accept(request({ text: 'common', ...document }, pairId))
  await knowledge.whenIdle()
  return knowledge
}

describe('filters', () => {
  test('by source: any of them, none means all', async () => {
    const knowledge = await makeLibrary(
      { id: 'a', source: 'web' },
      { id: 'b', source: 'slack' },
      { id: 'c', source: 'file' },
    )
    expect(await idsOf(knowledge, { source_type: ['web', 'slack'] })).toEqual(['a', 'b'])
    expect(await idsOf(knowledge, { source_type: [] })).toEqual(['a', 'b', 'c'])
    expect(await idsOf(knowledge, { source_type: null })).toEqual(['a', 'b', 'c'])
  })

  test('by tags: any of those of one key, all keys; lists match by each item, case counts', async () => {
    const knowledge = await makeLibrary(
      { id: 'a', metadata: { team: 'red', lang: 'en' } },
      { id: 'b', metadata: { team: ['blue', 'red'], lang: 'de' } },
      { id: 'c', metadata: { team: 'green', lang: 'en' } },
      { id: 'd', metadata: { 'team=red': 'x', odd: 'lang=en' } },
    )
    const tags = (...pairs: [string, string][]): BaseFilters => ({
      tags: pairs.map(([tag_key, tag_value]) => ({ tag_key, tag_value })),
    })
    expect(await idsOf(knowledge, tags(['team', 'red']))).toEqual(['a', 'b'])
    expect(await idsOf(knowledge, tags(['team', 'blue'], ['team', 'green']))).toEqual(['b', 'c'])
    expect(await idsOf(knowledge, tags(['team', 'red'], ['team', 'green'], ['lang', 'en']))).toEqual(['a', 'c'])
    expect(await idsOf(knowledge, tags(['team', 'RED']))).toEqual([])
    expect(await idsOf(knowledge, tags(['team', 'red=x']))).toEqual([])
    expect(await idsOf(knowledge, tags(['team=red', 'x']))).toEqual(['d'])
  })

  test('by time cutoff: updated or created since, inclusive; without a date, accepted since', async () => {
    const knowledge = await makeLibrary(
      { id: 'old', doc_updated_at: '2020-01-01T00:00:00.000Z' },
      { id: 'exact', doc_updated_at: '2024-05-05T00:00:00.000Z' },
      { id: 'created', doc_updated_at: '2020-01-01T00:00:00.000Z', doc_created_at: '2025-01-01T00:00:00.000Z' },
      { id: 'undated' },
    )
    expect(await idsOf(knowledge, { time_cutoff: '2024-05-05T00:00:00.000Z' })).toEqual(['created', 'exact', 'undated'])
    expect(await idsOf(knowledge, { time_cutoff: '2999-01-01T00:00:00.000Z' })).toEqual([])
  })

  test('by ranges: inclusive in whole seconds, never documents without that date', async () => {
    const knowledge = await makeLibrary(
      { id: 'a', doc_updated_at: '2024-01-01T00:00:00.900Z' },
      { id: 'b', doc_updated_at: '2024-06-01T00:00:00.000Z', doc_created_at: '2023-01-01T00:00:00.000Z' },
      { id: 'undated' },
    )
    const updated = (start: string | null, end: string | null): BaseFilters => ({ updated_at_range: { start, end } })
    expect(await idsOf(knowledge, updated('2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00.000Z'))).toEqual(['a'])
    expect(await idsOf(knowledge, updated('2024-01-01T00:00:00.999Z', null))).toEqual(['a', 'b'])
    expect(await idsOf(knowledge, updated('2024-01-01T00:00:01.000Z', null))).toEqual(['b'])
    expect(await idsOf(knowledge, updated(null, '2999-01-01T00:00:00.000Z'))).toEqual(['a', 'b'])
    expect(await idsOf(knowledge, { created_at_range: { end: '2023-01-01T00:00:00.000Z' } })).toEqual(['b'])
    expect(await idsOf(knowledge, updated(null, null))).toEqual(['a', 'b', 'undated'])
  })

  test('bind together', async () => {
    const knowledge = await makeLibrary(
      { id: 'a', source: 'web', metadata: { k: 'v' } },
      { id: 'b', source: 'web' },
      { id: 'c', source: 'file', metadata: { k: 'v' } },
    )
    expect(await idsOf(knowledge, { source_type: ['web'], tags: [{ tag_key: 'k', tag_value: 'v' }] })).toEqual(['a'])
  })
})

describe('access and document sets', () => {
  const ana: Caller = { id: 'ana', scopes: ['chat'] }

  async function makeGuarded(): Promise<{ knowledge: Knowledge; closed: number; open: number }> {
    const { knowledge } = await makeKnowledge()
    const closed = (await knowledge.pairs.create({ name: 'closed', isPublic: false })).id
    const open = (await knowledge.pairs.create({ name: 'open' })).id
    await knowledge.start()
    await knowledge.accept(request({ id: 'everyone', text: 'common' }))
    await knowledge.accept(request({ id: 'closed', text: 'common' }, closed))
    await knowledge.accept(request({ id: 'open', text: 'common' }, open))
    await knowledge.accept(request({ id: 'both', text: 'common' }, closed))
    await knowledge.accept(request({ id: 'both', text: 'common' }, open))
    await knowledge.whenIdle()
    return { knowledge, closed, open }
  }

  test('a caller finds what a pair of it opens; the host itself finds everything', async () => {
    const { knowledge, closed } = await makeGuarded()
    expect(await idsOf(knowledge, {}, ana)).toEqual(['both', 'everyone', 'open'])
    expect(await idsOf(knowledge)).toEqual(['both', 'closed', 'everyone', 'open'])
    await knowledge.pairs.update(closed, { users: ['ana'] })
    expect(await idsOf(knowledge, {}, ana)).toEqual(['both', 'closed', 'everyone', 'open'])
    await knowledge.pairs.update(1, { isPublic: false })
    expect(await idsOf(knowledge, {}, ana)).toEqual(['both', 'closed', 'open'])
  })

  test('changing access or sets indexes nothing', async () => {
    const { knowledge, closed, open } = await makeGuarded()
    const before = (await knowledge.list()).documents
    await knowledge.pairs.update(closed, { isPublic: true })
    await knowledge.documentSets.create({ name: 'set', pairIds: [open] })
    await knowledge.whenIdle()
    expect((await knowledge.list()).documents).toEqual(before)
  })

  test('a document set narrows to its pairs, several to all of theirs, never beyond access', async () => {
    const { knowledge, closed, open } = await makeGuarded()
    await knowledge.documentSets.create({ name: 'one', pairIds: [1] })
    await knowledge.documentSets.create({ name: 'two', pairIds: [closed, open] })
    await knowledge.documentSets.create({ name: 'none' })
    expect(await idsOf(knowledge, { document_set: ['one'] }, ana)).toEqual(['everyone'])
    expect(await idsOf(knowledge, { document_set: ['two'] }, ana)).toEqual(['both', 'open'])
    expect(await idsOf(knowledge, { document_set: ['one', 'two'] })).toEqual(['both', 'closed', 'everyone', 'open'])
    expect(await idsOf(knowledge, { document_set: ['none'] })).toEqual([])
    expect(await idsOf(knowledge, { document_set: [] })).toHaveLength(4)
  })

  test('a set that does not exist or is not open to the caller is refused, alike', async () => {
    const { knowledge } = await makeGuarded()
    await knowledge.documentSets.create({ name: 'secret', pairIds: [1], isPublic: false, groups: ['staff'] })
    const refusals = await Promise.all(
      ['secret', 'unknown'].map((name) =>
        knowledge
          .search({ text: 'x', filters: { document_set: [name] }, caller: ana, limit: 1 })
          .catch((error) => error),
      ),
    )
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
    expect(refusals[0].message).toBe(refusals[1].message)
    await knowledge.documentSets.create({ name: 'open', pairIds: [1] })
    await expect(
      knowledge.search({ text: 'x', filters: { document_set: ['open', 'secret'] }, caller: ana }),
    ).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
    const staff = { ...ana, groups: ['staff'] }
    expect(await idsOf(knowledge, { document_set: ['secret'] }, staff)).toEqual(['everyone'])
    await expect(knowledge.checkFilters({ document_set: ['secret'] }, { caller: ana })).rejects.toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
    })
    await knowledge.checkFilters({ document_set: ['secret'] }, { caller: staff })
  })

  test('documents of a removed pair vanish at once, unless another pair holds them', async () => {
    const { knowledge, closed } = await makeGuarded()
    await knowledge.pairs.remove(closed)
    expect(await idsOf(knowledge)).toEqual(['both', 'everyone', 'open'])
    expect((await knowledge.list()).documents.map(({ documentId }) => documentId)).toEqual(['both', 'everyone', 'open'])
  })

  test('a document can be read once it is searchable, by those who see it', async () => {
    const { knowledge, closed } = await makeGuarded()
    await knowledge.pairs.update(1, { isPaused: true })
    await knowledge.accept(request({ id: 'waiting' }))
    const ids = ['closed', 'open', 'waiting', 'unknown']
    expect(await knowledge.readable(ids, { caller: ana })).toEqual(new Set(['open']))
    await knowledge.pairs.update(closed, { users: ['ana'] })
    expect(await knowledge.readable(ids, { caller: ana })).toEqual(new Set(['closed', 'open']))
    await knowledge.pairs.update(1, { isPaused: false })
    await knowledge.whenIdle()
    expect(await knowledge.readable(ids)).toEqual(new Set(['closed', 'open', 'waiting']))
  })

  test('sources and listings show a caller only what it may see', async () => {
    const { knowledge, closed } = await makeGuarded()
    await knowledge.accept(request({ id: 'slack', source: 'slack' }, closed))
    expect(await knowledge.sources({ caller: ana })).toEqual(['file'])
    expect(await knowledge.sources()).toEqual(['file', 'slack'])
    expect((await knowledge.list({}, { caller: ana })).documents.map(({ documentId }) => documentId)).toEqual([
      'both',
      'everyone',
      'open',
    ])
    expect((await knowledge.list({ pairId: closed }, { caller: ana })).documents).toEqual([])
    await knowledge.remove('slack')
    expect(await knowledge.sources()).toEqual(['file'])
  })
})

const nobody = { display_name: null, first_name: null, middle_initial: null, last_name: null, email: null }

const leavePolicy = request({
  id: 'https://wiki/leave',
  semantic_identifier: 'Leave policy',
  source: 'confluence',
  metadata: { space: 'HR', tags: ['a', 'b'] },
  doc_updated_at: '2026-01-12T09:30:00.000Z',
  primary_owners: [
    { ...nobody, first_name: 'Ana', middle_initial: 'B', last_name: 'Petrova', display_name: 'ignored' },
    { ...nobody, first_name: 'Cy', last_name: 'Dee' },
    { ...nobody, display_name: 'Team', email: 'team@example.org' },
    { ...nobody, email: 'mail@example.org', first_name: 'Mail' },
    { ...nobody, email: 'no mail', first_name: 'First' },
    nobody,
  ],
  file_id: 'file-1',
  sections: [
    section('Nothing of interest.', 'https://wiki/leave#1'),
    section('# Entitlement\n\nFull-time staff receive 25 days of paid leave.', 'https://wiki/leave#2'),
  ],
})

describe('results', () => {
  test('carry what clients show of a document', async () => {
    const { knowledge } = await startKnowledge()
    await knowledge.accept(leavePolicy, { waitMs: 60_000 })
    expect(await knowledge.search({ text: 'how many days of leave for staff', limit: 1 })).toEqual([
      {
        document: {
          document_id: 'https://wiki/leave',
          chunk_ind: 1,
          semantic_identifier: 'Leave policy',
          link: 'https://wiki/leave#2',
          blurb: 'Entitlement Full-time staff receive 25 days of paid leave.',
          source_type: 'confluence',
          boost: 0,
          hidden: false,
          metadata: { space: 'HR', tags: ['a', 'b'] },
          score: expect.any(Number),
          is_relevant: null,
          relevance_explanation: null,
          match_highlights: ['Entitlement Full-time <hi>staff</hi> receive 25 <hi>days</hi> of paid <hi>leave</hi>.'],
          updated_at: '2026-01-12T09:30:00.000Z',
          primary_owners: ['Ana B Petrova', 'Cy Dee', 'Team', 'mail@example.org', 'First'],
          secondary_owners: null,
          is_internet: false,
          file_id: 'file-1',
        },
        content: '# Entitlement\n\nFull-time staff receive 25 days of paid leave.',
        headings: ['Entitlement'],
        span: { first: 1, last: 1 },
        ranking: { words: expect.any(Number), vectorWeight: 0 },
      },
    ])
  })

  test('without a title are called Unknown; without a date they bear that of their acceptance', async () => {
    const { knowledge } = await startKnowledge({ now: () => 86_400_000 })
    await knowledge.accept(request({ semantic_identifier: ' ' }), { waitMs: 60_000 })
    expect(await knowledge.search({ text: 'some', limit: 1 })).toMatchObject([
      { document: { semantic_identifier: 'Unknown', updated_at: '1970-01-02T00:00:00.000Z', link: null } },
    ])
  })

  test('are as many as asked for, though many hits join into one or are not visible any more', async () => {
    const index = memoryIndex()
    const { knowledge } = await startKnowledge({ index })
    const sections = Array.from({ length: 120 }, () => section('common words'))
    await knowledge.accept(request({ id: 'long', sections }))
    for (let at = 0; at < 30; at++) await knowledge.accept(request({ id: `short ${at}`, text: 'common words' }))
    await knowledge.whenIdle()
    // Rows of a generation that is not visible rank first.
    const [row] = index.store.rows
    for (let at = 0; at < 200; at++) index.store.rows.unshift({ ...row!, generation: 'gone', position: at * 2 })
    expect(await knowledge.search({ text: 'common words', limit: 40 })).toHaveLength(40)
  })

  test('are none for a text without words', async () => {
    const knowledge = await makeLibrary({ id: 'a' })
    expect(await knowledge.search({ text: '  ', limit: 5 })).toEqual([])
  })
})

describe('with an embedder', () => {
  test('documents are found by meaning, and by words alone while the embedder is down', async () => {
    let isDown = false
    const embedder = fakeEmbedder({ answer: () => (isDown ? Promise.reject(new Error('down')) : undefined) })
    const { knowledge, errors } = await startKnowledge({ embedder })
    await knowledge.accept(request({ id: 'a', title: '', text: 'aaaa iiii' }), { waitMs: 60_000 })
    expect(await knowledge.search({ text: 'aiaiaiai', limit: 5 })).toHaveLength(1)
    isDown = true
    expect(await knowledge.search({ text: 'aiaiaiai', limit: 5 })).toEqual([])
    expect(await knowledge.search({ text: 'iiii', limit: 5 })).toHaveLength(1)
    expect(errors).toHaveLength(2)
  })

  test('a search that is given up rejects', async () => {
    const embedder = fakeEmbedder({ answer: () => new Promise(() => {}) })
    const { knowledge } = await makeKnowledge({ embedder })
    const signal = AbortSignal.timeout(5)
    await expect(knowledge.search({ text: 'x', limit: 5, signal })).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})
