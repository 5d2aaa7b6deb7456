import { must, mustEqual, type Checks } from '../contract.ts'
import type { MakeVectorIndex } from './index-fixture.ts'
import { foundBy, sampleRow, sampleSpace, vectorAt } from './sample-rows.ts'
import type { VectorIndex } from '@inlay/knowledge'

export const stagingChecks: Checks<MakeVectorIndex> = {
  async 'staging indexes keep apart, and each goes without the others'(make) {
    const first = await make('staging')
    if (!first.staging) return
    must(first.drop !== undefined, 'an index with staging indexes can be dropped')
    const second = first.staging(1)
    const third = first.staging(12)
    await first.open()
    await Promise.all([second, third].map((index) => index.open(sampleSpace)))
    await first.append([sampleRow('a', 'A heron.')])
    await second.append([sampleRow('b', 'A heron.', { vector: vectorAt(0) })])
    await third.append([sampleRow('c', 'A heron.', { vector: vectorAt(0) })])
    const herons = (index: VectorIndex): Promise<string[]> => foundBy(index, { text: 'heron', limit: 5 })
    mustEqual([await herons(first), await herons(second), await herons(third)], [['a'], ['b'], ['c']], 'found')
    mustEqual((await first.figures()).rows, 1, 'rows counted')
    await first.drop!()
    mustEqual(await herons(second), ['b'], 'after the first was dropped')
    await second.drop!()
    await second.drop!()
    mustEqual(await herons(third), ['c'], 'after the second was dropped')
    await third.close()
    const again = (await make('staging')).staging!(1)
    await again.open()
    mustEqual(await herons(again), [], 'what was dropped is empty when made anew, for any space')
    await again.drop!()
  },
}
