import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { expect, onTestFinished, test } from 'vitest'
import { zipfText } from '../../bench/zipf-text.ts'
import { row } from './sample-rows.ts'

/** Files of a folder that this process holds open though they are deleted. */
function deletedOpenFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((handle) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${handle}`)
      return target.startsWith(folder) && target.endsWith('(deleted)') ? [target] : []
    } catch {
      return []
    }
  })
}

test.skipIf(process.platform !== 'linux')(
  'files that folds have replaced do not stay open, however many folds there are',
  async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'inlay-open-files-')))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    const index = lancedbIndex({ folder, keepVersionsMs: 0 })
    await index.open()
    const { text } = zipfText(3, 5_000)
    // Smaller files are read at once and closed.
    await index.append(Array.from({ length: 2_000 }, (_, at) => row(`first ${at}`, `heron ${text(60)}`)))
    for (let fold = 1; fold <= 30; fold++) {
      await index.append(Array.from({ length: 30 }, (_, at) => row(`d${fold}-${at}`, `heron ${text(60)}`)))
      await index.maintain({ idle: true })
      expect(await index.search({ text: 'heron', limit: 10 })).toHaveLength(10)
    }
    await expect.poll(() => deletedOpenFiles(folder).length, { timeout: 60_000 }).toBeLessThan(45)
    await index.close()
  },
)
