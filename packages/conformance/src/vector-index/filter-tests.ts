import { mustEqual, type ConformanceTest } from '../contract.ts'
import type { WithIndex } from './index-fixture.ts'
import { beforeAndAfterUpkeep, fillerRows, foundBy, idsOf, sampleRow, sampleSpace, vectorAt } from './sample-rows.ts'
import type { IndexFilter, IndexQuery, IndexRow, VectorIndex } from '@inlay/knowledge'

/** A filter, and the documents that match it among those with the word "heron". */
type Case = readonly [filter: IndexFilter, ids: readonly string[]]

export function filterTests(withIndex: WithIndex): ConformanceTest[] {
  return [
    ...tables.map(([title, rows, cases], at): ConformanceTest => [
      title,
      async () => {
        await withIndex(`filters-${at}`, (index) => checkCases(index, rows, cases, [{ text: 'heron' }]))
        const withVectors = rows.map((row, n) => ({ ...row, vector: vectorAt(n) }))
        const both = { text: 'heron', vector: vectorAt(0) }
        const queries = [{ text: 'heron' }, { vector: vectorAt(0) }, both]
        await withIndex(`filters-${at}-vectors`, (index) => checkCases(index, withVectors, cases, queries), sampleSpace)
      },
    ]),
    limitTest(withIndex),
  ]
}

/** Filters apply to rows that were just appended and to rows after maintenance, in all kinds of search. */
async function checkCases(
  index: VectorIndex,
  rows: readonly IndexRow[],
  cases: readonly Case[],
  queries: readonly Pick<IndexQuery, 'text' | 'vector'>[],
): Promise<void> {
  const isOfSpace = rows[0]?.vector !== undefined
  await index.append([...fillerRows(30, () => (isOfSpace ? { vector: vectorAt(170) } : {})), ...rows])
  for await (const when of beforeAndAfterUpkeep(index)) {
    for (const [filter, ids] of cases)
      for (const query of queries) {
        const actual = await foundBy(index, { ...query, filter, limit: 50 })
        const how = `${query.text ? 'by words' : ''}${query.vector ? ' by vector' : ''}${when}`
        // The query vector is near every row, including those that only fill the index.
        const relevant = actual.filter((id) => !id.startsWith('filler '))
        mustEqual(relevant, [...ids].sort(), `${JSON.stringify(filter)} ${how}`)
      }
  }
}

function heron(id: string, rest: Partial<IndexRow>): IndexRow {
  return sampleRow(id, `The heron of ${id}.`, rest)
}

const tables: readonly (readonly [title: string, rows: readonly IndexRow[], cases: readonly Case[]])[] = [
  [
    'sources, pairs and document ids: any of those given; an empty list leaves nothing',
    [
      heron('a', { source: 'web', pairs: [1] }),
      heron('b', { source: 'file', pairs: [2, 3] }),
      heron('c', { source: 'web', pairs: [3] }),
      heron('d', { source: 'slack', pairs: [] }),
    ],
    [
      [{}, ['a', 'b', 'c', 'd']],
      [{ sources: ['web'] }, ['a', 'c']],
      [{ sources: ['web', 'file', 'none'] }, ['a', 'b', 'c']],
      [{ sources: [] }, []],
      [{ pairs: [3] }, ['b', 'c']],
      [{ pairs: [1, 2] }, ['a', 'b']],
      [{ pairs: [9] }, []],
      [{ pairs: [] }, []],
      [{ documentIds: ['a', 'd', 'nobody'] }, ['a', 'd']],
      [{ documentIds: [] }, []],
      [{ sources: ['web'], pairs: [3], documentIds: ['a', 'b', 'c'] }, ['c']],
    ],
  ],
  [
    'tags: any of one list, and one of every list',
    [
      heron('a', { tags: ['team=red', 'level=1'] }),
      heron('b', { tags: ['team=blue', 'level=1'] }),
      heron('c', { tags: ['team=red', 'level=2'] }),
      heron('d', { tags: [] }),
    ],
    [
      [{ tags: [['team=red']] }, ['a', 'c']],
      [{ tags: [['team=red', 'team=blue']] }, ['a', 'b', 'c']],
      [{ tags: [['team=red', 'team=blue'], ['level=1']] }, ['a', 'b']],
      [{ tags: [['team=']] }, []],
      [{ tags: [[]] }, []],
      [{ tags: [] }, ['a', 'b', 'c', 'd']],
    ],
  ],
  [
    'times: both ends count, what has no date is in no range',
    [
      heron('early', { createdAt: 1000, ownUpdatedAt: 2000, updatedAt: 2000 }),
      heron('late', { createdAt: 5000, ownUpdatedAt: 6000, updatedAt: 6000 }),
      heron('undated', { createdAt: null, ownUpdatedAt: null, updatedAt: 9000 }),
      heron('epoch', { createdAt: 0, ownUpdatedAt: 0, updatedAt: 0 }),
      heron('ancient', { createdAt: -62_135_596_800_000, ownUpdatedAt: -1, updatedAt: -1 }),
    ],
    [
      [{ createdAt: { start: 1000, end: 5000 } }, ['early', 'late']],
      [{ createdAt: { start: 1001 } }, ['late']],
      [{ createdAt: { end: 999 } }, ['ancient', 'epoch']],
      [{ createdAt: { start: 0, end: 0 } }, ['epoch']],
      [{ createdAt: { end: 0 } }, ['ancient', 'epoch']],
      [{ createdAt: { start: 0 } }, ['early', 'epoch', 'late']],
      [{ createdAt: {} }, ['ancient', 'early', 'epoch', 'late']],
      [{ updatedOrCreatedSince: 0 }, ['early', 'epoch', 'late', 'undated']],
      [{ createdAt: { end: -62_135_596_800_000 } }, ['ancient']],
      [{ ownUpdatedAt: { start: 2000, end: 2000 } }, ['early']],
      [{ ownUpdatedAt: { end: 0 } }, ['ancient', 'epoch']],
      [{ ownUpdatedAt: { end: -1 } }, ['ancient']],
      [{ updatedOrCreatedSince: 6000 }, ['late', 'undated']],
      [{ updatedOrCreatedSince: 9001 }, []],
      [{ updatedOrCreatedSince: 5000, createdAt: { start: 0 } }, ['late']],
    ],
  ],
  [
    'a value of a filter is only ever a value',
    [
      heron('plain', { source: 'web', tags: ['a=b'] }),
      heron(`x' OR '1'='1`, { source: `it's`, tags: [`k=it's "q" \\ %_\n🦀`] }),
      heron(`"; drop table chunks; --`, { source: '', tags: ['k%3D=v'] }),
    ],
    [
      [{ documentIds: [`x' OR '1'='1`] }, [`x' OR '1'='1`]],
      [{ documentIds: [`') OR ('1'='1`] }, []],
      [{ documentIds: ['"; drop table chunks; --', 'source'] }, ['"; drop table chunks; --']],
      [{ sources: [`it's`] }, [`x' OR '1'='1`]],
      [{ sources: ["web' --"] }, []],
      [{ sources: [''] }, ['"; drop table chunks; --']],
      [{ sources: ['w%', 'we_', '$1', '\\'] }, []],
      [{ tags: [[`k=it's "q" \\ %_\n🦀`]] }, [`x' OR '1'='1`]],
      [{ tags: [['k%3D=v'], [`k%3D=v`, `'`]] }, ['"; drop table chunks; --']],
    ],
  ],
]

function limitTest(withIndex: WithIndex): ConformanceTest {
  return [
    'a filter binds before the limit',
    () =>
      withIndex('limits', async (index) => {
        const crowd = Array.from({ length: 200 }, (_, n) => sampleRow(`x${n}`, 'heron heron heron', { source: 'web' }))
        const few = [1, 2, 3].map((n) => sampleRow(`few${n}`, `Somewhere far off there may be a heron, number ${n}.`))
        await index.append([...crowd, ...few])
        for await (const _ of beforeAndAfterUpkeep(index)) {
          const query = { text: 'heron', filter: { sources: ['ingestion_api'] }, limit: 3 }
          mustEqual(await foundBy(index, query), ['few1', 'few2', 'few3'], 'all that match')
          mustEqual(idsOf(await index.search({ ...query, limit: 2 })).length, 2, 'as many as the limit says')
        }
      }),
  ]
}
