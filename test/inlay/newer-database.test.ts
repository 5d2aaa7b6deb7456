import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createInlay } from 'inlay'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

test.each(['server', 'knowledge', 'agent'])(
  'records that a newer %s has written are left alone, and told as such',
  async (part) => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-newer-'))
    onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
    const first = createInlay({ dataFolder })
    await first.start()
    await first.close()
    const db = new Kysely<Record<string, { name: string; timestamp: string }>>({
      dialect: nodeSqlite({ file: join(dataFolder, 'inlay.db') }),
    })
    await db
      .insertInto(`inlay_${part}_migration`)
      .values({ name: '9999-from-the-future', timestamp: new Date().toISOString() })
      .execute()
    await db.destroy()
    const older = createInlay({ dataFolder })
    onTestFinished(() => older.close())
    await expect(older.start()).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('newer version'),
    })
  },
)
