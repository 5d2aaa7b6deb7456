import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { Kysely } from 'kysely'
import { onTestFinished } from 'vitest'

/** Opens the same database once for each process. */
export type OpenProcess = () => Kysely<Record<string, Record<string, unknown>>>

/** Makes a file of SQLite. */
export async function openFile(): Promise<OpenProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-records-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return () => {
    const db = new Kysely<Record<string, Record<string, unknown>>>({
      dialect: nodeSqlite({ file: join(folder, 'db') }),
    })
    onTestFinished(() => db.destroy())
    return db
  }
}
