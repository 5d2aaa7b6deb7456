import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, integer, model, orNull, text, uuid, type Wire } from '../fields.ts'
import { userFileSchema } from './files.ts'
import { chatSessionSummarySchema } from './sessions.ts'

export const projectSchema = model('Project', {
  /** Number of the project. */
  id: integer,
  /** Name of the project. */
  name: v.string(),
  /** Purpose of the project. */
  description: orNull(v.string()),
  /** ISO 8601 with `Z`. */
  created_at: answeredTime,
  /** Id of its owner. */
  user_id: orNull(v.string()),
  /** Instructions for the model in the project's chats. */
  instructions: orNull(v.string()),
  /** Sessions, last updated first. */
  chat_sessions: v.array(chatSessionSummarySchema),
})

/** A project: files and instructions shared by its chats. */
export type Project = Wire<typeof projectSchema>

/** Schema of {@link ProjectCreation}. The project store checks the name. */
export const projectCreationSchema = model('ProjectCreation', {
  /** Name of the project. */
  name: text,
})

/** Query of `POST /user/projects/create`. */
export type ProjectCreation = Wire<typeof projectCreationSchema>

export const projectUpdateSchema = model('ProjectUpdate', {
  /** Name of the project. */
  name: orNull(text),
  /** Purpose of the project. */
  description: orNull(text),
})

/** Body of `PATCH /user/projects/{project_id}`. Absent and null fields stay unchanged. */
export type ProjectUpdate = Wire<typeof projectUpdateSchema>

export const projectDetailsSchema = model('ProjectDetails', {
  /** The project. */
  project: projectSchema,
  /** Its files. */
  files: v.array(userFileSchema),
  /** By id of the agents used in its sessions. */
  persona_id_to_is_featured: v.record(v.string(), boolean),
})

/** Answer of `GET /user/projects/{project_id}/details`. */
export type ProjectDetails = Wire<typeof projectDetailsSchema>

export const projectInstructionsSchema = model('ProjectInstructions', {
  /** Instructions for the model in the project's chats. */
  instructions: orNull(text),
})

/** Instructions of a project. */
export type ProjectInstructions = Wire<typeof projectInstructionsSchema>

export const sessionMoveSchema = model('SessionMove', {
  /** The session to move. */
  chat_session_id: uuid,
})

/** Body of the routes that move a chat session. */
export type SessionMove = Wire<typeof sessionMoveSchema>

export const tokenTotalSchema = model('TokenTotal', {
  /** Total tokens of all its files. */
  total_tokens: integer,
})

/** Token count of a project's files. */
export type TokenTotal = Wire<typeof tokenTotalSchema>
