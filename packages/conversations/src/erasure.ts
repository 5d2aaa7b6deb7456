import { emptyLog, isAmong } from '@inlay/records'
import type { Agent } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { queueRemoval } from './files/file-records.ts'
import type { SqlFiles } from './files/manage-files.ts'
import { eraseSessions } from './sessions/removal.ts'
import type { ConversationDatabase } from './tables/database.ts'

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
 */
export async function erasePerson({ db, agent, files }: ErasureParts, personId: string): Promise<Erased> {
  const sessions = await idsOf(db, 'inlay_chat_sessions', personId)
  // In parts, so that other writers need not wait for long.
  for (let at = 0; at < sessions.length; at += 500) {
    const ids = sessions.slice(at, at + 500)
    await agent.removeRuns(ids)
    await eraseSessions(db, ids)
  }
  for (const table of ['inlay_chat_send_keys', 'inlay_chat_feedback', 'inlay_personalizations'] as const)
    await db.deleteFrom(table).where('owner_id', '=', personId).execute()
  const memories = await db.deleteFrom('inlay_memories').where('owner_id', '=', personId).executeTakeFirst()
  const personas = await db.deleteFrom('inlay_personas').where('owner_id', '=', personId).executeTakeFirst()
  const projects = await eraseProjects(db, personId)
  const fileIds = await idsOf(db, 'inlay_files', personId)
  await removeFiles({ db, files }, fileIds)
  // Tools belong to the organisation: they stay, without their creator's name.
  await db.updateTable('inlay_agent_tool').set({ owner_id: '' }).where('owner_id', '=', personId).execute()
  // Otherwise deleted data, including earlier deletions, would stay in SQLite's write-ahead log.
  await emptyLog(db)
  return {
    sessions: sessions.length,
    files: fileIds.length,
    projects,
    personas: Number(personas.numDeletedRows),
    memories: Number(memories.numDeletedRows),
  }
}

/**
 * Ends all runs and removes all files, so that storage and index hold nothing any more. May be called again
 * after a failure.
 */
export async function eraseOutsideRecords({ db, agent, files }: ErasureParts): Promise<void> {
  const sessions = await db.selectFrom('inlay_chat_sessions').select('id').execute()
  await agent.removeRuns(sessions.map(({ id }) => id))
  const rows = await db.selectFrom('inlay_files').select('id').execute()
  await removeFiles(
    { db, files },
    rows.map(({ id }) => id),
  )
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

async function idsOf(
  db: ConversationDatabase,
  table: 'inlay_chat_sessions' | 'inlay_files',
  personId: string,
): Promise<string[]> {
  const rows = await db.selectFrom(table).select('id').where('owner_id', '=', personId).execute()
  return rows.map(({ id }) => id)
}

async function eraseProjects(db: ConversationDatabase, personId: string): Promise<number> {
  const own = db.selectFrom('inlay_projects').select('id').where('owner_id', '=', personId)
  await db.deleteFrom('inlay_project_files').where('project_id', 'in', own).execute()
  const { numDeletedRows } = await db.deleteFrom('inlay_projects').where('owner_id', '=', personId).executeTakeFirst()
  return Number(numDeletedRows)
}
