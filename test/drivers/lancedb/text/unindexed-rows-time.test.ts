import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { expect, onTestFinished, test } from 'vitest'
import { zipfText } from '../../../bench/zipf-text.ts'
import { leastCpuMsOf } from '../../../cpu-time.ts'
import { row } from '../sample-rows.ts'

test('a search while some rows wait to be indexed takes about as long as with none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-unindexed-rows-'))
  const index = lancedbIndex({ folder })
  await index.open()
  onTestFinished(async () => {
    await index.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const zipf = zipfText(3, 2000)
  let rows = 0
  const append = (count: number): Promise<void> =>
    index.append(Array.from({ length: count }, () => row(`d${rows++}`, zipf.text(100))))
  const search = (): Promise<unknown> => index.search({ text: zipf.text(3), limit: 10 })
  const timed = (): Promise<number> =>
    leastCpuMsOf(async () => {
      for (let at = 0; at < 40; at++) await search()
    })
  await append(2000)
  await index.maintain({ idle: true })
  const quiet = await timed()
  await append(100)
  expect(await timed()).toBeLessThan(2 * quiet)
})
