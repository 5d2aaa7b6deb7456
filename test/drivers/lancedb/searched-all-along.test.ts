import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VectorIndex } from '@inlay/knowledge'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { afterAll, expect, it } from 'vitest'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-searched-all-along-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

it('an index that is searched all along finds what one that was just opened finds', async () => {
  const folder = join(root, 'index')
  const index = lancedbIndex({ folder, keepVersionsMs: 0, purgeMs: 0 })
  await index.open()
  const birds = ['heron', 'stork', 'crane', 'ibis']
  const hitsOf = async (of: VectorIndex, text: string): Promise<string[]> =>
    (await of.search({ text, limit: 50 })).map((hit) => `${hit.score.toFixed(6)} ${hit.generation} ${hit.text}`).sort()
  for (let round = 0; round < 7; round++) {
    const version = (n: number, at: number) =>
      row(`d${n}`, `A ${birds[(n + at) % 4]} and a ${birds[(n * at) % 4]}.`, { generation: `${n} of ${at}` })
    await index.append([0, 1, 2].map((n) => version((round + n) % 9, round)))
    const old = [0, 1, 2].map((n) => `${(round + n) % 9} of ${round - 1}`)
    await index.remove(old)
    if (round % 3 === 0) await index.maintain({ idle: true })
    const fresh = lancedbIndex({ folder, keepVersionsMs: 0, purgeMs: 0 })
    await fresh.open()
    for (const bird of birds) expect(await hitsOf(index, bird)).toEqual(await hitsOf(fresh, bird))
    await fresh.close()
  }
  await index.close()
})

it('a search ranks rows by their words while a fold moves them', async () => {
  const index = lancedbIndex({ folder: join(root, 'folded'), keepVersionsMs: 0, purgeMs: 0 })
  await index.open()
  const append = (name: string, text: string): Promise<void> => index.append([row(name, text)])
  await append('both', `A heron and a stork. ${'Water birds. '.repeat(40)}`)
  await append('one', `A heron. ${'Water birds. '.repeat(20)}`)
  for (let round = 0; round < 20; round++) {
    // Waits to be indexed, and is so short that the statistics of the index alone no longer hold.
    await append(`short ${round}`, 'Reeds.')
    let isFolded = false
    const fold = index.maintain({ idle: true }).then(() => (isFolded = true))
    while (!isFolded) {
      const hits = await index.search({ text: 'heron stork', limit: 5 })
      expect(hits.map(({ documentId }) => documentId)).toEqual(['both', 'one'])
      expect([hits[0]!.score, hits[1]!.score > 0 && hits[1]!.score < 1]).toEqual([1, true])
    }
    await fold
  }
  await index.close()
})
