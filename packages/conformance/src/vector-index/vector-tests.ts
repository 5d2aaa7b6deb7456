import { must, mustEqual, mustReject, type Checks } from '../contract.ts'
import type { IndexHandles, IndexSpace } from './index-fixture.ts'
import type { VectorIndex } from '@inlay/knowledge'
import { beforeAndAfterUpkeep, foundBy, idsOf, sampleRow, sampleSpace, vectorAt } from './sample-rows.ts'

const turned = (id: string, degrees: number, text = `Row ${id}.`): ReturnType<typeof sampleRow> =>
  sampleRow(id, text, { vector: vectorAt(degrees) })

export const vectorChecks: Checks<VectorIndex> = {
  async 'nearer vectors come first, with scores that rise with nearness'(index) {
    await index.append([turned('far', 170), turned('near', 10), turned('same', 0), turned('side', 80)])
    for await (const _ of beforeAndAfterUpkeep(index)) {
      const hits = await index.search({ vector: vectorAt(0), limit: 4 })
      mustEqual(idsOf(hits), ['same', 'near', 'side', 'far'], 'order')
      for (const { documentId, text } of hits) mustEqual(text, `Row ${documentId}.`, 'the text of a hit')
      must(hits[0]!.score > 0.99, 'the same vector scores about 1')
      for (const [at, hit] of hits.entries()) {
        must(hit.score >= 0 && hit.score <= 1, 'a score lies in [0, 1]')
        must(at === 0 || hit.score <= hits[at - 1]!.score, 'scores fall')
      }
      mustEqual(idsOf(await index.search({ vector: vectorAt(80), limit: 1 })), ['side'], 'the limit binds')
    }
  },
  async 'filters bind before the limit in vector search too'(index) {
    const crowd = Array.from({ length: 100 }, (_, n) => turned(`x${n}`, n / 100))
    await index.append([...crowd, { ...turned('a', 90), source: 'web' }, { ...turned('b', 120), source: 'web' }])
    for await (const _ of beforeAndAfterUpkeep(index)) {
      const query = { vector: vectorAt(0), filter: { sources: ['web'] }, limit: 2 }
      mustEqual(idsOf(await index.search(query)), ['a', 'b'], 'of the source asked for')
      mustEqual(await index.search({ ...query, filter: { pairs: [] } }), [], 'of no pair')
    }
  },
  async 'a removed row is gone from vector search'(index) {
    await index.append([turned('a', 0), turned('b', 20)])
    await index.remove(['generation of a'])
    mustEqual(await foundBy(index, { vector: vectorAt(0), limit: 5 }), ['b'], 'left')
  },
  async 'with words and a vector, what fits both comes first, and what fits one is there'(index) {
    await index.append([
      turned('neither', 150, 'An otter swims.'),
      turned('words', 140, 'The heron stands in the reeds.'),
      turned('meaning', 5, 'A grey bird waits by the water.'),
      turned('both', 6, 'The heron waits by the water in the reeds.'),
    ])
    for await (const _ of beforeAndAfterUpkeep(index)) {
      const hits = await index.search({ text: 'heron reeds', vector: vectorAt(0), limit: 3 })
      mustEqual(idsOf(hits)[0], 'both', 'the first')
      mustEqual(idsOf(hits).sort(), ['both', 'meaning', 'words'], 'the first three')
      must(
        hits.every((hit) => hit.score >= 0 && hit.score <= 1),
        'scores lie in [0, 1]',
      )
      const wordless = await index.search({ text: '', vector: vectorAt(0), limit: 2 })
      mustEqual(idsOf(wordless), ['meaning', 'both'], 'without a word the vector decides')
    }
  },
  async 'reading gives vectors when asked'(index) {
    await index.append([turned('a', 30)])
    const [plain] = await index.read('generation of a', 0, 0)
    must(plain !== undefined && plain.vector === undefined, 'none unless asked')
    const [hit] = await index.read('generation of a', 0, 0, { vectors: true })
    must(hit?.vector instanceof Float32Array, 'a Float32Array')
    mustEqual([...hit.vector], [...vectorAt(30)], 'the vector as appended')
  },
  async 'several generations are read at once, with their vectors and nothing else'(index) {
    await index.append([turned('a', 30), turned('b', 60), turned('c', 90)])
    const hits = await index.readAll?.(['generation of b', 'generation of a', 'generation of none'])
    const vectors = new Map(hits?.map(({ documentId, vector }) => [documentId, [...(vector ?? [])]]))
    const expected = new Map(['a', 'b'].map((id, at) => [id, [...vectorAt(30 * (at + 1))]]))
    if (hits) mustEqual([...vectors].toSorted(), [...expected], 'rows')
  },
}

export const spaceChecks: Checks<IndexHandles> = {
  async 'vectors of a wrong length, missing, or not of finite numbers are refused, and nothing is appended'({
    withIndex,
  }) {
    await withIndex(
      'wrong',
      async (index) => {
        const holed = vectorAt(0)
        holed[3] = Number.NaN
        for (const vector of [new Float32Array(7), new Float32Array(9), new Float32Array(0), holed, undefined])
          await mustReject(
            () => index.append([turned('good', 0), sampleRow('bad', 'A heron.', { vector })]),
            'INDEX_MISMATCH',
            `a vector of ${vector?.length ?? 'no'} numbers`,
          )
        mustEqual((await index.figures()).rows, 0, 'rows')
        await mustReject(
          () => index.search({ vector: new Float32Array(7), limit: 1 }),
          'INDEX_MISMATCH',
          'a query of 7 numbers',
        )
      },
      sampleSpace,
    )
    await withIndex('wrong-spaceless', async (index) => {
      await mustReject(() => index.append([turned('a', 0)]), 'INDEX_MISMATCH', 'a vector without a space')
      await mustReject(
        () => index.search({ vector: vectorAt(0), limit: 1 }),
        'INDEX_MISMATCH',
        'a query without a space',
      )
    })
  },
  async 'an index filled from one space refuses every other, and keeps its rows'(handles) {
    const { withIndex } = handles
    await withIndex('space', (index) => index.append([turned('a', 0)]), sampleSpace)
    await refuses(handles, 'space', { id: 'samples/other@8', dimensions: 8 })
    await refuses(handles, 'space', undefined)
    await withIndex(
      'space',
      async (index) => {
        mustEqual(await foundBy(index, { vector: vectorAt(0), limit: 1 }), ['a'], 'found in the old space')
      },
      sampleSpace,
    )
  },
  async 'an index filled without vectors refuses a space'(handles) {
    const { withIndex } = handles
    await withIndex('spaceless', (index) => index.append([sampleRow('a', 'The heron waits.')]))
    await refuses(handles, 'spaceless', sampleSpace)
  },
}

async function refuses({ make }: IndexHandles, store: string, space: IndexSpace | undefined): Promise<void> {
  const index = await make(store)
  await mustReject(() => index.open(space), 'INDEX_MISMATCH', `opening with ${JSON.stringify(space ?? null)}`)
  await index.close()
}
