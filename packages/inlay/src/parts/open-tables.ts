import { migrateConversations } from '@inlay/conversations'
import { migrateKnowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import {
  createProcessRecord,
  dialectOf,
  type AnyDatabase,
  type MigrationMode,
  type MigrationStep,
  type ProcessRecord,
} from '@inlay/records'
import { migrateServer } from '@inlay/server'
import { sql } from 'kysely'
import manifest from '../../package.json' with { type: 'json' }
import { processPresence } from '../process-presence.ts'
import type { Closable } from './destroy-parts.ts'
import { patiently } from './records-of-folder.ts'

/** Migrates the tables of all packages. @returns the steps that were carried out, or are due if nothing is to change */
export async function migrateAll(db: AnyDatabase, mode: MigrationMode): Promise<readonly MigrationStep[]> {
  const steps: MigrationStep[] = []
  for (const migrate of [migrateServer, migrateKnowledge, migrateConversations])
    steps.push(...(await patiently(() => migrate(db, mode))))
  return steps
}

export function processRecord(db: AnyDatabase, now: () => number): ProcessRecord {
  return createProcessRecord(db, { presence: processPresence(), version: manifest.version, now })
}

/**
 * Brings the tables up to date and notes that this process uses them. What an earlier version needs stays until a start
 * at least a day after the upgrade at which no process of another version is present, so that one can go back.
 * @returns ends the note
 */
export async function openTables(db: AnyDatabase, now: () => number): Promise<Closable> {
  const record = processRecord(db, now)
  // First, so that either a contraction of a newer version sees this process, or this process sees the contraction.
  await record.register().catch((error: unknown) => {
    // Otherwise a new database, which has no tables yet.
    if (isInlayError(error)) throw error
  })
  await migrateAll(db, 'expand')
  await record.register()
  if (await mayContract(db, record, now)) await migrateAll(db, 'contract')
  return record
}

const dayMs = 86_400_000

async function mayContract(db: AnyDatabase, record: ProcessRecord, now: () => number): Promise<boolean> {
  const due = await migrateAll(db, 'check')
  if (due.length === 0 || (await record.otherVersions()).length > 0) return false
  for (const { plan } of due) {
    const [newest] = await db
      .selectFrom(`inlay_${plan}_migration`)
      .select((row) => row.fn.max('timestamp').as('at'))
      .execute()
    if (Date.parse(String(newest?.at)) > now() - dayMs) return false
  }
  // A role that only reads and writes rows leaves it to `inlay migrate --contract`.
  if (dialectOf(db) === 'sqlite') return true
  const { rows } = await sql<{ may: boolean }>`
    select has_schema_privilege(current_schema(), 'create') as may`.execute(db)
  return rows[0]?.may === true
}
