import { emptyLog, isAmong, refuseHeld } from '@inlay/records'
import type { Agent } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { queueRemoval } from './files/file-records.ts'
import type { SqlFiles } from './files/manage-files.ts'
import { eraseSessions } from './sessions/removal.ts'
import { idsOf, type ConversationDatabase } from './tables/database.ts'
import { conversationPersonTables, isOfPerson } from './tables/person-tables.ts'
import { sql } from 'kysely'

/** How much of a person was erased, by kind. */
export interface Erased {
  readonly sessions: number
  readonly files: number
  readonly projects: number
  readonly personas: number
  readonly memories: number
}

export interface ErasureParts {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns'>
  readonly files: Pick<SqlFiles, 'worker'>
}

/**
 * Erases everything that belongs to a person, including what was deleted but kept hidden. Runs are ended first. May be
 * called again after a failure; what is left then is erased.
 * @throws CONFLICT under a legal hold
 */
export async function erasePerson({ db, agent, files }: ErasureParts, personId: string): Promise<Erased> {
  await refuseHeld(db, personId)
  const sessions = await idsOfPerson(db, 'inlay_chat_sessions', personId)
  // In parts, so that other writers need not wait for long.
  for (let at = 0; at < sessions.length; at += 500) {
    const ids = sessions.slice(at, at + 500)
    await agent.removeRuns(ids)
    await eraseSessions(db, ids)
  }
  const counts = await db.transaction().execute((records) => eraseRows(records, personId))
  const fileIds = await idsOfPerson(db, 'inlay_files', personId)
  await removeFiles({ db, files }, fileIds)
  // Tools belong to the organisation: they stay, without their creator's name.
  await db.updateTable('inlay_agent_tool').set({ owner_id: '' }).where('owner_id', '=', personId).execute()
  // Otherwise deleted data, including earlier deletions, would stay in SQLite's write-ahead log.
  await emptyLog(db)
  return {
    sessions: sessions.length,
    files: fileIds.length,
    projects: counts['inlay_projects'] ?? 0,
    personas: counts['inlay_personas'] ?? 0,
    memories: counts['inlay_memories'] ?? 0,
  }
}

/** Afterwards storage and index hold nothing any more. May be called again after a failure. */
export async function eraseOutsideRecords({ db, agent, files }: ErasureParts): Promise<void> {
  const sessions = await db.selectFrom('inlay_chat_sessions').select('id').execute()
  await agent.removeRuns(idsOf(sessions))
  const rows = await db.selectFrom('inlay_files').select('id').execute()
  await removeFiles({ db, files }, idsOf(rows))
}

/** Maximum wait for a file that another process works on, and interval of the checks, in milliseconds. */
const heldUpMs = 5_000
const lookMs = 50

/** @throws SERVICE_UNAVAILABLE when some could not be removed yet; they are tried again by themselves */
async function removeFiles({ db, files }: Omit<ErasureParts, 'agent'>, ids: readonly string[]): Promise<void> {
  for (const id of ids) await queueRemoval(db, id)
  const end = performance.now() + heldUpMs
  for (;;) {
    files.worker.notify()
    await files.worker.whenIdle()
    const left = await db
      .selectFrom('inlay_files')
      .select('claim')
      .where(isAmong(db, 'id', ids))
      .execute()
    if (left.length === 0) return
    if (left.every(({ claim }) => claim === null) || performance.now() > end)
      throw new InlayError('SERVICE_UNAVAILABLE', {
        message: `${left.length} of ${ids.length} files could not be removed yet: they are tried again, and this may be called again.`,
        retryable: true,
      })
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

async function idsOfPerson(
  db: ConversationDatabase,
  table: 'inlay_chat_sessions' | 'inlay_files',
  personId: string,
): Promise<string[]> {
  const rows = await db.selectFrom(table).select('id').where('owner_id', '=', personId).execute()
  return idsOf(rows)
}

/** Erases the rows of a person, but for those of files. @returns how many, by table */
async function eraseRows(records: ConversationDatabase, personId: string): Promise<Readonly<Record<string, number>>> {
  await refuseHeld(records, personId)
  const counts: Record<string, number> = {}
  for (const [name, table] of Object.entries(conversationPersonTables)) {
    // Their bytes go first.
    if (name === 'inlay_files' || name === 'inlay_file_texts') continue
    const erased = await sql`delete from ${sql.table(name)} where ${isOfPerson(table, personId)}`.execute(records)
    counts[name] = Number(erased.numAffectedRows)
  }
  return counts
}
