import { InlayError } from '@inlay/protocol'
import type { Keys } from '@inlay/server'
import { defaultDataFolder, prepareDataFolder } from '../data-folder.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { closeAll, type Closable } from './destroy-parts.ts'
import { recordsOf } from './engine-parts.ts'
import { auditedKeys } from './host-audit.ts'
import { defaultDialect, patiently } from './records-of-folder.ts'
import { findUnusedData } from './unused-data.ts'

/**
 * Opens the keys alone: index, models and worker take longer to load than a key takes to list or create. Changes are
 * audited.
 */
export async function openKeys(
  { dialect: given, engines = {}, dataFolder = defaultDataFolder }: InlayOptions,
  onError: (error: unknown) => void,
): Promise<{ readonly keys: Keys; close(): Promise<void> }> {
  const [{ Kysely }, { openDatabaseClock }, { createAuditLog, createKeys, migrateServer }] = await Promise.all([
    import('kysely'),
    import('@inlay/records'),
    import('@inlay/server'),
  ])
  const opened: Closable[] = []
  const close = (): Promise<void> => closeAll(opened.splice(0).toReversed())
  try {
    const elsewhere = given ?? (await recordsOf(engines, opened))
    if (elsewhere === undefined) await prepareDataFolder(dataFolder)
    else
      for (const message of await findUnusedData(dataFolder, { records: true, index: false, files: false }))
        onError(new InlayError('BAD_REQUEST', { message, data: { isExpected: true } }))
    // oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
    const db = new Kysely<any>({ dialect: elsewhere ?? (await defaultDialect(dataFolder)) })
    opened.push({ close: () => db.destroy() })
    await patiently(() => migrateServer(db))
    const clock = await openDatabaseClock(db)
    opened.push(clock)
    const keys = createKeys({ db, now: clock.now, onError })
    opened.push(keys)
    return { keys: auditedKeys(keys, createAuditLog({ db, now: clock.now })), close }
  } catch (error) {
    await close().catch(onError)
    throw error
  }
}
