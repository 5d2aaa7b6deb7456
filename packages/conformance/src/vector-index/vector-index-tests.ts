import { must, mustEqual, mustReject, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import { completeTextChecks, completeVectorChecks } from './completeness-tests.ts'
import { filterTests } from './filter-tests.ts'
import { type IndexHandles, type MakeVectorIndex, withIndexOf } from './index-fixture.ts'
import { fillerRows, foundBy, idsOf, sampleRow, sampleSpace, vectorAt } from './sample-rows.ts'
import { stagingChecks } from './space-tests.ts'
import { textChecks } from './text-tests.ts'
import { spaceChecks, vectorChecks } from './vector-tests.ts'
import type { IndexRow, VectorIndex } from '@inlay/knowledge'

export type { MakeVectorIndex } from './index-fixture.ts'

/**
 * Requirements of every `VectorIndex`, as a list for any test runner. Each test uses its own stores, so tests may run
 * in any order, and concurrently if the store allows it.
 */
export function vectorIndexConformance(make: MakeVectorIndex): ConformanceTest[] {
  const withIndex = withIndexOf(make)
  return [
    ...toTests(handleChecks, (check) => check({ make, withIndex })),
    ...toTests({ ...rowChecks, ...textChecks, ...completeTextChecks }, (check, at) => withIndex(`text-${at}`, check)),
    ...filterTests(withIndex),
    ...toTests({ ...vectorChecks, ...completeVectorChecks }, (check, at) =>
      withIndex(`vectors-${at}`, check, sampleSpace),
    ),
    ...toTests(spaceChecks, (check) => check({ make, withIndex })),
    ...toTests(stagingChecks, (check) => check(make)),
  ]
}

const strange = `It's "odd" \\ 100%_;--\n\t日本 é e\u0301 🦀 $1 ' OR '1'='1`

const handleChecks: Checks<IndexHandles> = {
  async 'rows are found as soon as their append resolves, and after the index was opened anew'({ withIndex }) {
    await withIndex('kept', async (index) => {
      await index.append([sampleRow('a', 'The heron waits in the reeds.'), sampleRow('b', 'An otter swims.')])
      mustEqual(await foundBy(index, { text: 'heron', limit: 5 }), ['a'], 'after the append')
    })
    await withIndex('kept', async (index) => {
      mustEqual(await foundBy(index, { text: 'heron', limit: 5 }), ['a'], 'after opening anew')
      await index.append([sampleRow('c', 'A second heron lands.')])
      mustEqual(await foundBy(index, { text: 'heron', limit: 5 }), ['a', 'c'], 'a second append keeps the first')
    })
  },
  async 'an index made before its first use is empty'({ make }) {
    const index = await make('empty')
    await index.open()
    mustEqual(await index.search({ text: 'heron', limit: 5 }), [], 'hits')
    mustEqual((await index.maintain({ idle: true })).rows, 0, 'rows')
    await index.close()
  },
  async 'what one handle appends or removes, another sees at its next search'({ withIndex }) {
    await withIndex('shared', async (first) => {
      await withIndex('shared', async (second) => {
        await first.append([sampleRow('a', 'The heron waits.')])
        mustEqual(await foundBy(second, { text: 'heron', limit: 5 }), ['a'], 'seen by the second')
        await second.append([sampleRow('b', 'The heron lands.')])
        await second.remove(['generation of a'])
        mustEqual(await foundBy(first, { text: 'heron', limit: 5 }), ['b'], 'seen by the first')
        await second.maintain({ idle: true })
        await first.append([sampleRow('c', 'The heron leaves.')])
        mustEqual(await foundBy(second, { text: 'heron', limit: 5 }), ['b', 'c'], 'seen after upkeep')
        mustEqual(await foundBy(first, { text: 'heron', limit: 5 }), ['b', 'c'], 'seen by its author after upkeep')
      })
    })
  },
  async 'two handles may open, append, remove and maintain at once: nothing is lost or doubled'({ make }) {
    const handles = await Promise.all([make('crowd'), make('crowd')])
    try {
      await Promise.all(handles.map((index) => index.open()))
      await Promise.all(
        handles.flatMap((index, at) => [
          ...Array.from({ length: 10 }, async (_, n) => {
            await index.append([
              sampleRow(`${at}-${n}`, 'A heron in the crowd.'),
              sampleRow(`${at}-${n}-old`, 'An old heron.'),
            ])
            await index.remove([`generation of ${at}-${n}-old`])
          }),
          index.maintain({ idle: true }),
        ]),
      )
      const expected = [0, 1].flatMap((at) => Array.from({ length: 10 }, (_, n) => `${at}-${n}`)).sort()
      for (const index of handles)
        mustEqual(await foundBy(index, { text: 'heron', limit: 100 }), expected, 'documents found')
    } finally {
      await Promise.all(handles.map((index) => index.close()))
    }
  },
  async 'a closed index refuses everything with CLOSED, and may be closed again'({ make }) {
    const index = await make('closed')
    await index.open(sampleSpace)
    await index.append([sampleRow('a', 'The heron waits.', { vector: vectorAt(0) })])
    await index.close()
    await index.close()
    await mustReject(() => index.append([sampleRow('b', 'x', { vector: vectorAt(0) })]), 'CLOSED', 'append')
    await mustReject(() => index.remove(['generation of a']), 'CLOSED', 'remove')
    await mustReject(() => index.search({ text: 'heron', limit: 1 }), 'CLOSED', 'search')
    await mustReject(() => index.read('generation of a', 0, 1), 'CLOSED', 'read')
    await mustReject(() => index.maintain(), 'CLOSED', 'maintain')
    await mustReject(() => index.figures(), 'CLOSED', 'figures')
    await mustReject(() => index.open(sampleSpace), 'CLOSED', 'open')
  },
  async 'closing waits for what was appended before'({ make }) {
    const index = await make('closing')
    await index.open()
    const appended = index.append([sampleRow('a', 'The heron waits.')])
    await Promise.all([appended, index.close()])
    const again = await make('closing')
    await again.open()
    mustEqual(idsOf(await again.search({ text: 'heron', limit: 1 })), ['a'], 'found after opening anew')
    await again.close()
  },
  async 'an aborted search rejects'({ make }) {
    const index = await make('aborted')
    await index.open()
    await mustReject(() => index.search({ text: 'heron', limit: 1, signal: AbortSignal.abort() }), undefined, 'search')
    await index.close()
  },
}

const rowChecks: Checks<VectorIndex> = {
  async 'a hit carries the row as it was appended, whatever its characters'(index) {
    const row = sampleRow(strange, `kestrel ${strange}`, {
      generation: `g ${strange}`,
      position: 7,
      source: strange,
      chunkMetadata: JSON.stringify({ title: strange }),
      updatedAt: 1_234_567_890_123,
    })
    await index.append([...fillerRows(3), row])
    const [hit] = await index.search({ text: 'kestrel', limit: 1 })
    const { score, ...rest } = hit!
    must(score >= 0 && score <= 1, 'a score lies in [0, 1]')
    const { documentId, generation, position, text, chunkMetadata, source, updatedAt } = row
    for (const [key, value] of Object.entries({
      documentId,
      generation,
      position,
      text,
      chunkMetadata,
      source,
      updatedAt,
    }))
      mustEqual(rest[key as keyof typeof rest], value, `the hit's ${key}`)
    await index.remove([row.generation])
    mustEqual(await foundBy(index, { text: 'kestrel', limit: 5 }), [], 'removed by its strange name')
  },
  async 'the generations that have rows are listed, where the index can list them'(index) {
    const list = async (): Promise<string[]> => {
      const all = new Set<string>()
      await index.eachGeneration?.((generations) => generations.forEach((generation) => all.add(generation)))
      return [...all].sort()
    }
    if (!index.eachGeneration) return
    mustEqual(await list(), [], 'an empty index')
    const rows = Array.from({ length: 6000 }, (_, n) => sampleRow(`d${n}`, 'A heron.', { position: n % 2 }))
    await index.append(rows)
    await index.append([sampleRow('d0', 'A second part.', { position: 1 }), sampleRow(strange, 'An otter.')])
    const generations = rows.map(({ generation }) => generation)
    await index.remove([generations[5]!])
    const rest = [...generations.filter((_, n) => n !== 5), sampleRow(strange, '').generation].sort()
    mustEqual(await list(), rest, 'all that have rows')
  },
  async 'removing takes one generation and leaves every other, also of the same document'(index) {
    const version = (n: number): IndexRow => sampleRow('a', `The heron, version ${n}.`, { generation: `a/${n}` })
    await index.append([version(1), version(2), sampleRow('b', 'A heron elsewhere.')])
    await index.remove(['a/1'])
    await index.remove(['a/1', 'never there'])
    await index.remove([])
    mustEqual(
      (await index.search({ text: 'heron', limit: 5 })).map((hit) => hit.generation).sort(),
      ['a/2', 'generation of b'],
      'generations left',
    )
    mustEqual((await index.figures()).rows, 2, 'rows counted')
  },
  async 'the same rows appended twice are found once, and appending nothing is nothing'(index) {
    const rows = [0, 1].map((position) => sampleRow('a', `Heron part ${position}.`, { position }))
    await index.append(rows)
    await index.append([])
    await index.append(rows)
    const hits = await index.search({ text: 'heron', limit: 10 })
    mustEqual(hits.map((hit) => hit.position).sort(), [0, 1], 'positions found')
    mustEqual(
      (await index.read('generation of a', 0, 9)).map((hit) => hit.position),
      [0, 1],
      'positions read',
    )
  },
  async 'reading gives one generation between two positions, by position'(index) {
    const rows = (id: string): IndexRow[] =>
      [3, 0, 4, 1, 2].map((position) => sampleRow(id, `${id} part ${position}`, { position }))
    await index.append([...rows('a'), ...rows('b')])
    mustEqual(
      (await index.read('generation of b', 1, 3)).map((hit) => hit.text),
      ['b part 1', 'b part 2', 'b part 3'],
      'texts',
    )
    mustEqual(await index.read('generation of b', 7, 9), [], 'beyond the end')
    mustEqual(await index.read(`x' OR '1'='1`, 0, 9), [], 'of no such generation')
  },
  async 'upkeep changes no answer, and rows appended meanwhile stay'(index) {
    await index.append([...fillerRows(40), sampleRow('a', 'The heron waits.')])
    await index.remove(['generation of filler 3'])
    const rounds = Array.from({ length: 5 }, (_, n) => index.append([sampleRow(`m${n}`, `Heron number ${n}.`)]))
    const [figures] = await Promise.all([index.maintain({ idle: true }), ...rounds])
    must(figures.rows >= 40, 'upkeep answers with the rows there are')
    const expected = ['a', 'm0', 'm1', 'm2', 'm3', 'm4']
    mustEqual(await foundBy(index, { text: 'heron', limit: 20 }), expected, 'after upkeep beside appends')
    const settled = await index.maintain({ idle: true })
    mustEqual(settled.unindexedRows, 0, 'rows waiting after an idle upkeep')
    mustEqual(await foundBy(index, { text: 'heron', limit: 20 }), expected, 'after a second upkeep')
    mustEqual(settled.rows, 45, 'rows counted')
  },
}
