import { must, mustEqual, mustReject, type Checks } from '../contract.ts'
import { beforeAndAfterUpkeep, foundBy, idsOf, sampleRow, vectorAt } from './sample-rows.ts'
import type { IndexQuery, VectorIndex } from '@inlay/knowledge'

/** The same search by text, by vector and by both. */
const everyWay = (query: Omit<IndexQuery, 'text' | 'vector'>): readonly IndexQuery[] => [
  { ...query, text: 'heron' },
  { ...query, vector: vectorAt(0) },
  { ...query, text: 'heron', vector: vectorAt(0) },
]

const heron = (id: string, degrees: number, text = 'A heron stands there.'): ReturnType<typeof sampleRow> =>
  sampleRow(id, text, { vector: vectorAt(degrees) })

/** There are no hidden limits: all rows are accepted, stored completely, found up to the limit, and removed. */
export const completeVectorChecks: Checks<VectorIndex> = {
  async 'as many hits as the limit says, by words, by vector and by both'(index) {
    await index.append(Array.from({ length: 130 }, (_, n) => heron(`d${n}`, n / 10)))
    for await (const _ of beforeAndAfterUpkeep(index)) {
      for (const query of everyWay({ limit: 100 }))
        mustEqual((await index.search(query)).length, 100, `hits of 130 ${kindOf(query)}`)
      for (const query of everyWay({ limit: 200 }))
        mustEqual(new Set(idsOf(await index.search(query))).size, 130, `all documents ${kindOf(query)}`)
    }
  },
  async 'a filter by pairs binds before the limit, by words, by vector and by both'(index) {
    const crowd = Array.from({ length: 400 }, (_, n) => ({ ...heron(`x${n}`, n / 10), pairs: [1, 3] }))
    const few = Array.from({ length: 12 }, (_, n) => {
      const row = heron(`few${n}`, 90 + n, 'Somewhere far off there may be a heron, or there may be none.')
      return { ...row, pairs: [2] }
    })
    await index.append([...crowd, ...few])
    for await (const _ of beforeAndAfterUpkeep(index)) {
      for (const query of everyWay({ limit: 10, filter: { pairs: [2, 9] } })) {
        const ids = idsOf(await index.search(query))
        mustEqual(ids.length, 10, `hits ${kindOf(query)}`)
        must(
          ids.every((id) => id.startsWith('few')),
          `only rows of the pair ${kindOf(query)}`,
        )
      }
      for (const query of everyWay({ limit: 300, filter: { pairs: [3] } }))
        mustEqual((await index.search(query)).length, 300, `hits of a wide pair ${kindOf(query)}`)
    }
  },
  async 'removing takes every generation given, from words, vectors and reading'(index) {
    await index.append(['a', 'b', 'c', 'd'].map((id, at) => heron(id, at * 10)))
    await index.maintain({ idle: true })
    await index.append([heron('e', 50), heron('f', 60)])
    await index.remove(['a', 'b', 'c', 'e'].map((id) => `generation of ${id}`))
    for await (const _ of beforeAndAfterUpkeep(index)) {
      for (const query of everyWay({ limit: 10 }))
        mustEqual(await foundBy(index, query), ['d', 'f'], `found ${kindOf(query)}`)
      for (const id of ['a', 'b', 'c', 'e'])
        mustEqual(await index.read(`generation of ${id}`, 0, 9), [], `read of ${id}`)
    }
  },
  async 'a search that is aborted while it runs rejects'(index) {
    await index.append([heron('a', 0)])
    for (const query of everyWay({ limit: 1 })) {
      const aborting = new AbortController()
      const search = index.search({ ...query, signal: aborting.signal })
      aborting.abort()
      await mustReject(() => search, undefined, `the search ${kindOf(query)}`)
    }
  },
}

export const completeTextChecks: Checks<VectorIndex> = {
  async 'an append of more than a thousand rows is taken whole'(index) {
    const names = new Map([
      [0, 'heron'],
      [499, 'kestrel'],
      [500, 'otter'],
      [501, 'lynx'],
      [1199, 'badger'],
    ])
    await index.append(
      Array.from({ length: 1200 }, (_, n) => sampleRow(`d${n}`, `An entry about the ${names.get(n) ?? 'weather'}.`)),
    )
    mustEqual((await index.figures()).rows, 1200, 'rows')
    for (const [n, name] of names)
      mustEqual(await foundBy(index, { text: name, limit: 5 }), [`d${n}`], `the entry ${n}`)
  },
  async 'reading gives every row between two positions, each with its whole text'(index) {
    const text = (position: number): string => `Part ${position}. ${'A long text, é日🦀. '.repeat(1500)}End.`
    const chunkMetadata = JSON.stringify({ title: 'x'.repeat(5000) })
    const rows = Array.from({ length: 60 }, (_, position) =>
      sampleRow('a', position < 2 ? text(position) : `Part ${position}.`, { position, chunkMetadata }),
    )
    await index.append(rows)
    for await (const _ of beforeAndAfterUpkeep(index)) {
      const read = await index.read('generation of a', 0, 59)
      mustEqual(
        read.map(({ position }) => position),
        rows.map(({ position }) => position),
        'positions',
      )
      must(
        read.every((hit, at) => hit.text === rows[at]?.text && hit.chunkMetadata === chunkMetadata),
        'texts and chunk metadata as appended',
      )
      const [hit] = await index.search({ text: 'part 1', limit: 1 })
      must(hit !== undefined && hit.text === rows[hit.position]?.text, 'the text of a hit is whole')
    }
  },
}

function kindOf({ text, vector }: IndexQuery): string {
  return text === undefined ? 'by vector' : vector ? 'by both' : 'by words'
}
