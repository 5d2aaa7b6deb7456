import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createInlay } from 'inlay'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

/** A data folder in which a newer version has recorded a step. */
async function folderWithStep(part: string, name: string): Promise<string> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-newer-'))
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  const first = createInlay({ dataFolder })
  await first.start()
  await first.close()
  const db = new Kysely<Record<string, { name: string; timestamp: string }>>({
    dialect: nodeSqlite({ file: join(dataFolder, 'inlay.db') }),
  })
  await db.insertInto(`inlay_${part}_migration`).values({ name, timestamp: new Date().toISOString() }).execute()
  await db.destroy()
  return dataFolder
}

test.each(['server', 'knowledge', 'agent'])('a version starts on what a newer %s has only expanded', async (part) => {
  const older = createInlay({ dataFolder: await folderWithStep(part, '9999-from-the-future') })
  onTestFinished(() => older.close())
  await older.start()
  expect(await older.knowledge.hasDocuments()).toBe(false)
})

test.each(['server', 'knowledge', 'agent'])(
  'it refuses what a newer %s has contracted, with what to do',
  async (part) => {
    const older = createInlay({ dataFolder: await folderWithStep(part, 'contract:9999-from-the-future') })
    onTestFinished(() => older.close())
    await expect(older.start()).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringMatching(/newer version .* start that version again, or restore the backup/),
    })
  },
)
