import type { Agent } from '@inlay/agent'
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

/** What erasing works on. */
export interface ErasureParts {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns'>
  readonly files: Pick<SqlFiles, 'worker'>
}

/**
 * Erases all that belongs to a person, also what was deleted before and kept out of sight. Runs are ended first. May be
 * called again after a failure; what is left then is erased.
 */
export async function erasePerson({ db, agent, files }: ErasureParts, personId: string): Promise<Erased> {
  const sessions = await idsOf(db, 'inlay_chat_sessions', personId)
  // A statement takes a bounded number of values.
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
  for (const id of fileIds) await queueRemoval(db, id)
  files.worker.notify()
  await files.worker.settled()
  // Tools are the organisation's: they stay, without the name of who added them.
  await db.updateTable('inlay_agent_tool').set({ owner_id: '' }).where('owner_id', '=', personId).execute()
  return {
    sessions: sessions.length,
    files: fileIds.length,
    projects,
    personas: Number(personas.numDeletedRows),
    memories: Number(memories.numDeletedRows),
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
