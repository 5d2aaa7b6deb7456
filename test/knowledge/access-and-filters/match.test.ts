import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { makeKnowledge, request } from '../setup.ts'

test('a listing finds a text in titles and ids among more documents than are looked at one by one', async () => {
  const { knowledge, db } = await makeKnowledge()
  await sql`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 12000)
    insert into inlay_documents (id, revision, incarnation, state, hash, semantic_identifier, link, source, content_bytes,
      accepted_at, due_at, attempts, failures, interruptions)
    select 'd' || n, n, n, 'indexed', '', case n when 9000 then '100% of "Zeppelins"' else 'Title' end, '', 'file', 1, 1, 1, 1, 0, 0
    from numbers`.execute(db)
  await sql`insert into inlay_document_pairs (pair_id, document_id) select 1, id from inlay_documents`.execute(db)
  const idsOf = async (match: string, order?: 'newest'): Promise<string[]> => {
    const ids: string[] = []
    for (let after: string | null | undefined; after !== null;) {
      const page = await knowledge.list({ match, ...(after !== undefined && { after }), ...(order && { order }) })
      ids.push(...page.documents.map(({ documentId }) => documentId))
      after = page.next
    }
    return ids
  }
  expect(await idsOf('zeppelin')).toEqual(['d9000'])
  expect(await idsOf('ZEPPELINS"')).toEqual(['d9000'])
  expect(await idsOf('d11999', 'newest')).toEqual(['d11999'])
  expect(await idsOf('absent')).toEqual([])
  // Pieces of it are there, but not in a row.
  expect(await idsOf('pelzep')).toEqual([])
  // Too short for the index: page by page.
  expect(await idsOf('0%')).toEqual(['d9000'])
  expect(await idsOf('0%', 'newest')).toEqual(['d9000'])
  expect(await idsOf('d1199')).toEqual(['d1199', ...Array.from({ length: 10 }, (_, at) => `d1199${at}`)])

  await sql`update inlay_documents set semantic_identifier = 'Airships' where id = 'd9000'`.execute(db)
  expect(await idsOf('zeppelin')).toEqual([])
  expect(await idsOf('airship')).toEqual(['d9000'])
  await sql`delete from inlay_documents where id = 'd9000'`.execute(db)
  expect(await idsOf('airship')).toEqual([])
})

test('a listing by a text shows a caller only its own documents, however many it may see', async () => {
  const { knowledge, db } = await makeKnowledge()
  const { id: hidden } = await knowledge.pairs.create({ name: 'HR', isPublic: false })
  await knowledge.accept(request({ id: 'a hidden', semantic_identifier: 'Zeppelins' }, hidden))
  await knowledge.accept(request({ id: 'b open', semantic_identifier: 'Zeppelins' }))
  const ids = async (match: string): Promise<string[]> =>
    (await knowledge.list({ match }, { caller: { id: 'ana', scopes: ['ingest'] } })).documents.map(
      ({ documentId }) => documentId,
    )
  expect([await ids('zeppelin'), await ids('ze')]).toEqual([['b open'], ['b open']])
  // So many that access is only checked for those that match; "ze" is too short for the index.
  await sql`update inlay_pair_counts set amount = 1000000`.execute(db)
  expect([await ids('zeppelin'), await ids('ze')]).toEqual([['b open'], ['b open']])
})
