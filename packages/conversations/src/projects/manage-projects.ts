import { emptyLog, refuseHeld } from '@inlay/records'
import type { ProjectTable } from '../tables/library-tables.ts'
import type { Selectable } from 'kysely'
import { InlayError, type Principal } from '@inlay/protocol'
import type { ProjectLookup, StoredFile, Services } from '@inlay/agent'
import { holdPresent } from '../files/file-records.ts'
import type { SqlFiles } from '../files/manage-files.ts'
import { idsOf, isRowId, type ConversationDatabase } from '../tables/database.ts'
import { toListing } from '../sessions/listing.ts'
import { ownSession } from '../sessions/session-access.ts'

import type { Projects, ProjectWithSessions, StoredProject } from './contracts.ts'

export interface ProjectsOptions extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  readonly files: Pick<SqlFiles, 'get' | 'byIds' | 'wantIndexed'>
}

export function createProjects(options: ProjectsOptions): Projects {
  const { db, now } = options
  const own = (id: number, caller: Principal): Promise<StoredProject> => ownProject(db, id, caller.id)
  return {
    ...createLinks(options, own),
    list: async (caller) => {
      const rows = await db
        .selectFrom('inlay_projects')
        .selectAll()
        .where('owner_id', '=', caller.id)
        .orderBy('id', 'desc')
        .execute()
      return withSessions(db, rows.map(toProject), caller)
    },
    create: async (name, caller) => {
      const row = await db
        .insertInto('inlay_projects')
        .values({ owner_id: caller.id, name: checkName(name), description: '', created_at: now(), instructions: null })
        .returningAll()
        .executeTakeFirstOrThrow()
      return { ...toProject(row), sessions: [] }
    },
    get: async (id, caller) => withItsSessions(db, await own(id, caller), caller),
    update: async (id, { name, description, instructions }, caller) => {
      const project = await own(id, caller)
      const row = await db
        .updateTable('inlay_projects')
        .set({
          name: name === undefined ? project.name : checkName(name),
          description: description ?? project.description,
          instructions: instructions === undefined ? project.instructions : instructions,
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(noProject)
      return withItsSessions(db, toProject(row), caller)
    },
    remove: async (id, caller) => {
      await own(id, caller)
      await db.transaction().execute(async (records) => {
        await refuseHeld(records, caller.id)
        await records
          .updateTable('inlay_chat_sessions')
          .set({ project_id: null })
          .where('project_id', '=', id)
          .execute()
        await records.deleteFrom('inlay_project_files').where('project_id', '=', id).execute()
        await records.deleteFrom('inlay_projects').where('id', '=', id).execute()
      })
      await emptyLog(db)
    },
  }
}

type Links = Pick<Projects, 'files' | 'link' | 'unlink' | 'moveSession' | 'sessionFiles'>

function createLinks(
  { db, files, now }: ProjectsOptions,
  own: (id: number, caller: Principal) => Promise<StoredProject>,
): Links {
  return {
    files: async (id, caller) => files.byIds(await linkedFileIds(db, (await own(id, caller)).id)),
    link: async (id, fileId, caller) => {
      await own(id, caller)
      const file = await files.get(fileId, caller)
      await db.transaction().execute(async (records) => {
        await records
          .insertInto('inlay_project_files')
          .values({ project_id: id, id: file.id, linked_at: now() })
          .onConflict((conflict) => conflict.columns(['project_id', 'id']).doNothing())
          .execute()
        await holdPresent(records, [file.id])
      })
      await files.wantIndexed([file.id])
      return file
    },
    unlink: async (id, fileId, caller) => {
      await own(id, caller)
      const file = await files.get(fileId, caller)
      await db.deleteFrom('inlay_project_files').where('project_id', '=', id).where('id', '=', file.id).execute()
    },
    moveSession: async (sessionId, projectId, caller) => {
      if (projectId !== null) await own(projectId, caller)
      const session = await ownSession(db, sessionId, caller)
      await db.updateTable('inlay_chat_sessions').set({ project_id: projectId }).where('id', '=', session.id).execute()
    },
    sessionFiles: async (sessionId, caller): Promise<readonly StoredFile[]> => {
      const session = await ownSession(db, sessionId, caller)
      return session.project_id === null ? [] : files.byIds(await linkedFileIds(db, session.project_id))
    },
  }
}

/** A project of an owner. NOT_FOUND when it is unknown or somebody else's. */
export async function ownProject(db: ConversationDatabase, id: number, ownerId: string): Promise<StoredProject> {
  const row = isRowId(id)
    ? await db.selectFrom('inlay_projects').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined
  if (row?.owner_id === ownerId) return toProject(row)
  throw noProject()
}

export function projectLookup(db: ConversationDatabase): ProjectLookup {
  return {
    get: async (id, caller) => {
      const project = await ownProject(db, id, caller.id)
      return { ...project, fileIds: await linkedFileIds(db, project.id) }
    },
  }
}

/** Ids of the files of a project, in the order in which they were linked. */
async function linkedFileIds(db: ConversationDatabase, projectId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('inlay_project_files')
    .select('id')
    .where('project_id', '=', projectId)
    .orderBy('linked_at')
    .orderBy('id')
    .execute()
  return idsOf(rows)
}

function noProject(): InlayError {
  return new InlayError('NOT_FOUND', { message: 'No such project.' })
}

function toProject(row: Selectable<ProjectTable>): StoredProject {
  return {
    id: row.id,
    ownerId: row.owner_id,
    name: row.name,
    description: row.description,
    instructions: row.instructions,
    createdAt: Number(row.created_at),
  }
}

async function withSessions(
  db: ConversationDatabase,
  projects: readonly StoredProject[],
  caller: Principal,
): Promise<ProjectWithSessions[]> {
  const rows = await db
    .selectFrom('inlay_chat_sessions')
    .selectAll()
    .where('owner_id', '=', caller.id)
    .where('deleted_at', 'is', null)
    .where('project_id', 'is not', null)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .execute()
  const byProject = Map.groupBy(rows, (row) => row.project_id)
  return projects.map((project) => ({ ...project, sessions: (byProject.get(project.id) ?? []).map(toListing) }))
}

async function withItsSessions(
  db: ConversationDatabase,
  project: StoredProject,
  caller: Principal,
): Promise<ProjectWithSessions> {
  const [whole] = await withSessions(db, [project], caller)
  return whole ?? { ...project, sessions: [] }
}

function checkName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= 255) return trimmed
  throw new InlayError('INVALID_INPUT', { message: 'A project needs a name of 1 to 255 characters.' })
}
