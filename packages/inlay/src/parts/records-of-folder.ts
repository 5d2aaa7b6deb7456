import { isInlayError } from '@inlay/protocol'
import { openDatabaseClock, type AnyDatabase, type DatabaseClock } from '@inlay/records'
import type { Dialect } from 'kysely'
import { databaseFile, defaultDataFolder, prepareDataFolder } from '../data-folder.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import type { Closable } from './destroy-parts.ts'
import { recordsOf } from './engine-parts.ts'

/**
 * Retries migrations: of two processes that start on a new folder concurrently, the later one finds the tables on its
 * next attempt. Errors that the driver has already explained, such as a folder that is not writable, are not retried.
 */
export async function patiently<Result>(migrate: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrate()
    } catch (error) {
      if (attempt === 3 || isInlayError(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, 100 * attempt))
    }
  }
}

export async function defaultDialect(dataFolder: string): Promise<Dialect> {
  const { nodeSqlite } = await import('@inlay/drivers/node-sqlite')
  return nodeSqlite({ file: databaseFile(dataFolder) })
}

/** Opens the database of the options alone, and creates the data folder if it is there. Adds it to `opened`. */
export async function openRecords(
  options: InlayOptions,
  opened: Closable[],
): Promise<{ readonly db: AnyDatabase; readonly clock: DatabaseClock }> {
  const { dataFolder = defaultDataFolder } = options
  const elsewhere = await recordsOf(options, opened)
  if (elsewhere === undefined) await prepareDataFolder(dataFolder)
  const { Kysely } = await import('kysely')
  const db: AnyDatabase = new Kysely({ dialect: elsewhere ?? (await defaultDialect(dataFolder)) })
  opened.push({ close: () => db.destroy() })
  const clock = await openDatabaseClock(db)
  opened.push(clock)
  return { db, clock }
}
