import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, integer, model, orNull, text, uuid, type WireSchema } from '../fields.ts'
import { userFileSchema, type UserFile } from './files.ts'
import { chatSessionSummarySchema, type ChatSessionSummary } from './sessions.ts'

/** A project: files and instructions shared by its chats. */
export interface Project {
  /** Number of the project. */
  readonly id: number
  /** Name of the project. */
  readonly name: string
  /** Purpose of the project. */
  readonly description: string | null
  /** ISO 8601 with `Z`. */
  readonly created_at: string
  /** Id of its owner. */
  readonly user_id: string | null
  /** Instructions for the model in the project's chats. */
  readonly instructions: string | null
  /** Sessions, last updated first. */
  readonly chat_sessions: readonly ChatSessionSummary[]
}

export const projectSchema: WireSchema<Project> = model('Project', {
  id: integer,
  name: v.string(),
  description: orNull(v.string()),
  created_at: answeredTime,
  user_id: orNull(v.string()),
  instructions: orNull(v.string()),
  chat_sessions: v.array(chatSessionSummarySchema),
})

/** Query of `POST /user/projects/create`. */
export interface ProjectCreation {
  /** Name of the project. */
  readonly name: string
}

/** Schema of {@link ProjectCreation}. The project store checks the name. */
export const projectCreationSchema: WireSchema<ProjectCreation, ProjectCreation> = model('ProjectCreation', {
  name: text,
})

/** Body of `PATCH /user/projects/{project_id}`. Absent and null fields stay unchanged. */
export interface ProjectUpdate {
  /** Name of the project. */
  readonly name: string | null
  /** Purpose of the project. */
  readonly description: string | null
}

export const projectUpdateSchema: WireSchema<ProjectUpdate> = model('ProjectUpdate', {
  name: orNull(text),
  description: orNull(text),
})

/** Answer of `GET /user/projects/{project_id}/details`. */
export interface ProjectDetails {
  /** The project. */
  readonly project: Project
  /** Its files. */
  readonly files: readonly UserFile[]
  /** By id of the agents used in its sessions. */
  readonly persona_id_to_is_featured: Readonly<Record<string, boolean>>
}

export const projectDetailsSchema: WireSchema<ProjectDetails> = model('ProjectDetails', {
  project: projectSchema,
  files: v.array(userFileSchema),
  persona_id_to_is_featured: v.record(v.string(), boolean),
})

/** Instructions of a project. */
export interface ProjectInstructions {
  /** Instructions for the model in the project's chats. */
  readonly instructions: string | null
}

export const projectInstructionsSchema: WireSchema<ProjectInstructions> = model('ProjectInstructions', {
  instructions: orNull(text),
})

/** Body of the routes that move a chat session. */
export interface SessionMove {
  /** The session to move. */
  readonly chat_session_id: string
}

export const sessionMoveSchema: WireSchema<SessionMove, SessionMove> = model('SessionMove', { chat_session_id: uuid })

/** Token count of a project's files. */
export interface TokenTotal {
  /** Total tokens of all its files. */
  readonly total_tokens: number
}

export const tokenTotalSchema: WireSchema<TokenTotal> = model('TokenTotal', { total_tokens: integer })
