import { InlayError } from '@inlay/protocol'
import type { Keys } from '@inlay/server'
import { defaultDataFolder } from '../data-folder.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { closeAll, type Closable } from './destroy-parts.ts'
import { auditedKeys } from './host-audit.ts'
import { refuseMoved } from './move-note.ts'
import { openRecords, patiently } from './records-of-folder.ts'
import { findUnusedData } from './unused-data.ts'

/** Alone, as index, models and worker take longer to load than a key takes to list or create. Changes are audited. */
export async function openKeys(
  options: InlayOptions,
  onError: (error: unknown) => void,
): Promise<{ readonly keys: Keys; close(): Promise<void> }> {
  const { createAuditLog, createKeys, migrateServer } = await import('@inlay/server')
  const opened: Closable[] = []
  const close = (): Promise<void> => closeAll(opened.splice(0).toReversed())
  try {
    const elsewhere = { records: true, index: false, files: false }
    if (options.database !== undefined)
      for (const message of await findUnusedData(options.dataFolder ?? defaultDataFolder, elsewhere))
        onError(new InlayError('BAD_REQUEST', { message, data: { isExpected: true } }))
    const { db, clock } = await openRecords(options, opened)
    await refuseMoved(db)
    await patiently(() => migrateServer(db))
    const keys = createKeys({ db, now: clock.now, onError })
    opened.push(keys)
    return { keys: auditedKeys(keys, createAuditLog({ db, now: clock.now })), close }
  } catch (error) {
    await close().catch(onError)
    throw error
  }
}
