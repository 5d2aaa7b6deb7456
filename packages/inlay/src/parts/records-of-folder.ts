import { isInlayError } from '@inlay/protocol'
import { databaseFile } from '../data-folder.ts'
import type { InlayOptions } from '../options/inlay-options.ts'

/**
 * Retries migrations: of two processes that start on a new folder concurrently, the later one finds the tables on its
 * next attempt. Errors that the driver has already explained, such as a folder that is not writable, are not retried.
 */
export async function patiently(migrate: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrate()
    } catch (error) {
      if (attempt === 3 || isInlayError(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, 100 * attempt))
    }
  }
}

/** The dialect of the database in a data folder. */
export async function defaultDialect(dataFolder: string): Promise<InlayOptions['dialect'] & {}> {
  const { nodeSqlite } = await import('@inlay/drivers/node-sqlite')
  return nodeSqlite({ file: databaseFile(dataFolder) })
}
