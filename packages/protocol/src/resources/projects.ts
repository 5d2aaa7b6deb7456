import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, integer, model, orNull, text, uuid, type WireSchema } from '../fields.ts'
import { userFileSchema, type UserFile } from './files.ts'
import { chatSessionSummarySchema, type ChatSessionSummary } from './sessions.ts'

/** A project: files and instructions for the chats in it. */
export interface Project {
  /** Number of the project. */
  readonly id: number
  /** What the project is called. */
  readonly name: string
  /** What the project is for. */
  readonly description: string | null
  /** ISO 8601 with `Z`. */
  readonly created_at: string
  /** Id of its owner. */
  readonly user_id: string | null
  /** What the model is told in its chats. */
  readonly instructions: string | null
  /** Newest update first. */
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
  /** What the project is called. */
  readonly name: string
}

/** Schema of {@link ProjectCreation}; what a name may be is checked where projects are made. */
export const projectCreationSchema: WireSchema<ProjectCreation, ProjectCreation> = model('ProjectCreation', {
  name: text,
})

/** Body of `PATCH /user/projects/{project_id}`: what is absent or null stays. */
export interface ProjectUpdate {
  /** What the project is called. */
  readonly name: string | null
  /** What the project is for. */
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
  /** By id of the agents of its sessions. */
  readonly persona_id_to_is_featured: Readonly<Record<string, boolean>>
}

export const projectDetailsSchema: WireSchema<ProjectDetails> = model('ProjectDetails', {
  project: projectSchema,
  files: v.array(userFileSchema),
  persona_id_to_is_featured: v.record(v.string(), boolean),
})

/** What the chats of a project are told beside the files. */
export interface ProjectInstructions {
  /** What the model is told in the chats of the project. */
  readonly instructions: string | null
}

export const projectInstructionsSchema: WireSchema<ProjectInstructions> = model('ProjectInstructions', {
  instructions: orNull(text),
})

/** Body of the addresses that move a chat session. */
export interface SessionMove {
  /** The session to move. */
  readonly chat_session_id: string
}

export const sessionMoveSchema: WireSchema<SessionMove, SessionMove> = model('SessionMove', { chat_session_id: uuid })

/** What the files of a project take of a prompt. */
export interface TokenTotal {
  /** Tokens of all its files together. */
  readonly total_tokens: number
}

export const tokenTotalSchema: WireSchema<TokenTotal> = model('TokenTotal', { total_tokens: integer })
