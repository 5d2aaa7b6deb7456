import { must, mustEqual, mustReject, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import { sampleSpace, vectorAt as unitVectorAt } from './sample-rows.ts'
import type { NearPoint, VectorCollection, VectorPoint, VectorRow, VectorStore } from '@inlay/drivers/vector-store'

/** Opens a collection; handles with the same name share their points, even after all were closed. */
export type MakeVectorStore = (collection: VectorCollection) => VectorStore | Promise<VectorStore>

type WithStore = (name: string, work: (store: VectorStore) => Promise<void>) => Promise<void>

const { dimensions } = sampleSpace

/**
 * Requirements of every `VectorStore`, as a list for any test runner. Collection names begin with `conformance-`; each
 * test deletes its own.
 * @example for (const [title, run] of vectorStoreConformance(make)) test(title, run)
 */
export function vectorStoreConformance(make: MakeVectorStore): ConformanceTest[] {
  const withStore: WithStore = async (name, work) => {
    const store = await make({ name: `conformance-${name}`, dimensions })
    try {
      await store.clear()
      await work(store)
      await store.clear()
    } finally {
      await store.close()
    }
  }
  return [
    ...toTests(checks, (check, at) => withStore(`${at}`, check)),
    ...toTests(handleChecks, (check) => check({ make, withStore })),
  ]
}

const vectorAt = (degrees: number, length = 1): Float32Array => unitVectorAt(degrees).map((value) => value * length)

const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

function pointAt(number: number, degrees: number, row: Partial<VectorRow> = {}, length = 1): VectorPoint {
  const base = { source: 'web', tags: ['team=red'], pairs: [1], updatedAt: 1_700_000_000_000 }
  const place = { documentId: `document ${number}`, generation: `generation ${number}`, position: 0 }
  const vector = vectorAt(degrees, length)
  return { id: idOf(number), vector, row: { ...base, ...place, ownUpdatedAt: null, createdAt: null, ...row } }
}

const numbersOf = (points: readonly NearPoint[]): number[] => points.map(({ id }) => Number(id.slice(-12)))

const checks: Checks<VectorStore> = {
  async 'nearer points come first, with the cosine of their angle, however long their vectors are'(store) {
    await store.put([pointAt(1, 170), pointAt(2, 10, {}, 0.2), pointAt(3, 0, {}, 5), pointAt(4, 80, {}, 90)])
    const near = await store.nearest(vectorAt(0, 3), 4)
    mustEqual(numbersOf(near), [3, 2, 4, 1], 'order')
    for (const [at, degrees] of [0, 10, 80, 170].entries()) {
      const difference = Math.abs(near[at]!.cosine - Math.cos((degrees * Math.PI) / 180))
      must(difference < 0.001, `the cosine at ${degrees} degrees is not ${near[at]!.cosine}`)
    }
  },
  async 'as many points come as the limit says, or all there are'(store) {
    mustEqual((await store.nearest(vectorAt(0), 5)).length, 0, 'points of an empty collection')
    const points = Array.from({ length: 1_200 }, (_, at) => pointAt(at, at / 10))
    for (let at = 0; at < points.length; at += 500) await store.put(points.slice(at, at + 500))
    mustEqual(numbersOf(await store.nearest(vectorAt(0), 3)), [0, 1, 2], 'the nearest three')
    for (const limit of [500, 1_200, 3_000])
      mustEqual(new Set(numbersOf(await store.nearest(vectorAt(0), limit))).size, Math.min(limit, 1_200), 'points')
  },
  async 'a filter leaves out no point that passes it'(store) {
    await store.put([
      ...Array.from({ length: 30 }, (_, at) => pointAt(at, at)),
      pointAt(31, 100, { source: 'file', pairs: [2, 3], tags: ['a=b', 'c=d'], createdAt: 5 }),
      pointAt(32, 120, { source: 'file', pairs: [3], tags: ['c=d'], createdAt: 9 }),
    ])
    for (const [filter, numbers] of [
      [{ sources: ['file'] }, [31, 32]],
      [{ pairs: [2, 9] }, [31]],
      [{ tags: [['a=b', 'x=y'], ['c=d']] }, [31]],
      [{ documentIds: ['document 32'] }, [32]],
      [{ createdAt: { start: 5, end: 9 } }, [31, 32]],
    ] as const) {
      const near = numbersOf(await store.nearest(vectorAt(0), 40, filter))
      for (const number of numbers) must(near.includes(number), `${JSON.stringify(filter)} keeps point ${number}`)
    }
  },
  async 'a row comes back as it was put, whatever its characters'(store) {
    const odd = { documentId: strange, generation: strange, source: strange, tags: [strange, ''] }
    const points = [
      pointAt(1, 0, { ...odd, position: 7, updatedAt: -1, createdAt: 0, ownUpdatedAt: 9_007_199_254_740_991 }),
      pointAt(2, 90, { tags: [], pairs: [], source: '' }),
    ]
    await store.put(points)
    const near = await store.nearest(vectorAt(0), 2)
    for (const [at, { row }] of points.entries())
      for (const name of Object.keys(row) as (keyof VectorRow)[])
        mustEqual(near[at]?.row[name], row[name], `the row's ${name}`)
  },
  async 'vectors come back by id as they were put, and unknown ids are left out'(store) {
    const points = [pointAt(1, 30), pointAt(2, 77, {}, 5)]
    await store.put(points)
    const vectors = await store.vectors([idOf(2), idOf(9), idOf(1)])
    mustEqual([...vectors.keys()].sort(), [idOf(1), idOf(2)], 'ids')
    for (const { id, vector } of points) {
      must(vectors.get(id) instanceof Float32Array, 'a Float32Array')
      mustEqual([...vectors.get(id)!], [...vector], 'a vector')
    }
    mustEqual((await store.vectors([])).size, 0, 'vectors of no ids')
  },
  async 'a point replaces the one of its id'(store) {
    await store.put([pointAt(1, 0), pointAt(2, 20)])
    await store.put([])
    await store.put([pointAt(1, 90, { source: 'file' })])
    const near = await store.nearest(vectorAt(80), 5)
    mustEqual(numbersOf(near), [1, 2], 'points')
    mustEqual(near[0]?.row.source, 'file', 'its row')
    mustEqual([...(await store.vectors([idOf(1)])).values()].length, 1, 'vectors of its id')
  },
  async 'what the caller does with a vector afterwards changes nothing'(store) {
    const point = pointAt(1, 40)
    await store.put([point])
    point.vector.fill(9)
    mustEqual([...(await store.vectors([idOf(1)])).get(idOf(1))!], [...vectorAt(40)], 'the vector')
  },
  async 'removed points are gone, and the others stay'(store) {
    await store.put([1, 2, 3, 11].map((number) => pointAt(number, number)))
    await store.remove([idOf(1), idOf(3), idOf(99)])
    await store.remove([])
    await store.remove([idOf(1)])
    mustEqual(numbersOf(await store.nearest(vectorAt(0), 9)), [2, 11], 'points')
    mustEqual([...(await store.vectors([idOf(1), idOf(2)])).keys()], [idOf(2)], 'ids of vectors')
  },
  async 'a cleared collection is empty and takes points again'(store) {
    await store.put([pointAt(1, 0), pointAt(2, 5)])
    await store.clear()
    await store.clear()
    mustEqual((await store.nearest(vectorAt(0), 9)).length, 0, 'points')
    await store.put([pointAt(3, 0)])
    mustEqual(numbersOf(await store.nearest(vectorAt(0), 9)), [3], 'points afterwards')
  },
  async 'writes side by side all stay'(store) {
    await Promise.all(Array.from({ length: 20 }, (_, at) => store.put([pointAt(at, at), pointAt(at + 100, at)])))
    await Promise.all(Array.from({ length: 20 }, (_, at) => store.remove([idOf(at + 100)])))
    const numbers = numbersOf(await store.nearest(vectorAt(0), 99)).sort((a, b) => a - b)
    mustEqual(
      numbers,
      Array.from({ length: 20 }, (_, at) => at),
      'points',
    )
  },
  async 'a vector of another length than those it holds is refused'(store) {
    await store.put([pointAt(2, 0)])
    const short = { ...pointAt(1, 0), vector: new Float32Array(7).fill(0.5) }
    await mustReject(() => store.put([short]), undefined, 'a vector of 7 numbers')
    mustEqual(numbersOf(await store.nearest(vectorAt(0), 9)), [2], 'points')
  },
}

const handleChecks: Checks<{ readonly make: MakeVectorStore; readonly withStore: WithStore }> = {
  async 'what one handle writes, another one sees, also after the first was closed'({ make, withStore }) {
    await withStore('shared', async (first) => {
      const second = await make({ name: 'conformance-shared', dimensions })
      await second.put([pointAt(1, 0), pointAt(2, 5)])
      mustEqual(numbersOf(await first.nearest(vectorAt(0), 9)), [1, 2], 'points')
      await first.remove([idOf(1)])
      mustEqual(numbersOf(await second.nearest(vectorAt(0), 9)), [2], 'points after a removal')
      await second.close()
      mustEqual(numbersOf(await first.nearest(vectorAt(0), 9)), [2], 'points after the other was closed')
      const third = await make({ name: 'conformance-shared', dimensions })
      mustEqual(numbersOf(await third.nearest(vectorAt(0), 9)), [2], 'points of a new handle')
      await third.close()
    })
  },
  async 'collections keep apart'({ withStore }) {
    await withStore('here', (here) =>
      withStore('there', async (there) => {
        await here.put([pointAt(1, 0)])
        await there.put([pointAt(2, 0)])
        mustEqual(numbersOf(await here.nearest(vectorAt(0), 9)), [1], 'points of one')
        await there.clear()
        mustEqual(numbersOf(await here.nearest(vectorAt(0), 9)), [1], 'points after the other was cleared')
      }),
    )
  },
}

const strange = `It's "odd" \\ 100%_;--\n\t日本 é e\u0301 🦀 $1`
