import {
  type Project,
  type ProjectDetails,
  projectDetailsSchema,
  projectInstructionsSchema,
  projectSchema,
  type UserFile,
  userFileSchema,
} from '@inlay/protocol'
import { type CallOptions, queryOf, read, readList, submit } from './call.ts'
import type { Transport } from './transport.ts'

/** Changes to a project; absent fields stay unchanged. */
export interface ProjectChange extends CallOptions {
  /** 1 to 255 characters. */
  readonly name?: string
  readonly description?: string
  /** Instructions for the model in the project's chats; null for none. */
  readonly instructions?: string | null
}

/** The caller's projects: files and instructions for the chats in them. All that name one throw NOT_FOUND. */
export interface ProjectsClient {
  /** With their chats, newest first. */
  list(options?: CallOptions): Promise<readonly Project[]>
  /** @param name 1 to 255 characters; INVALID_INPUT */
  create(name: string, options?: CallOptions): Promise<Project>
  /** A project with its files. */
  get(projectId: number, options?: CallOptions): Promise<ProjectDetails>
  update(projectId: number, change: ProjectChange): Promise<Project>
  /** Its chats and files stay, outside of it. */
  remove(projectId: number, options?: CallOptions): Promise<void>
  /** Puts a file into a project, by its `id`. */
  link(projectId: number, fileId: string, options?: CallOptions): Promise<UserFile>
  unlink(projectId: number, fileId: string, options?: CallOptions): Promise<void>
  files(projectId: number, options?: CallOptions): Promise<readonly UserFile[]>
  /** Moves a chat session into a project; null: out of the one it is in. SESSION_NOT_FOUND */
  moveSession(sessionId: string, projectId: number | null, options?: CallOptions): Promise<void>
}

const base = '/user/projects'
const linkPath = (projectId: number, fileId: string): string =>
  `${base}/${projectId}/files/${encodeURIComponent(fileId)}`

/** The part of a client for projects. */
export function createProjectsClient(transport: Transport): ProjectsClient {
  const { send } = transport
  return {
    list: ({ signal } = {}) => readList(projectSchema, send(base, { signal })),
    create: (name, { signal } = {}) =>
      read(projectSchema, send(`${base}/create${queryOf({ name })}`, { method: 'POST', signal })),
    get: (projectId, { signal } = {}) => read(projectDetailsSchema, send(`${base}/${projectId}/details`, { signal })),
    update: async (projectId, { name, description, instructions, signal }) => {
      if (instructions !== undefined) {
        const call = { method: 'POST', json: { instructions }, signal } as const
        await read(projectInstructionsSchema, send(`${base}/${projectId}/instructions`, call))
      }
      const json = { name: name ?? null, description: description ?? null }
      return read(projectSchema, send(`${base}/${projectId}`, { method: 'PATCH', json, signal }))
    },
    remove: (projectId, { signal } = {}) => submit(transport, `${base}/${projectId}`, { method: 'DELETE', signal }),
    link: (projectId, fileId, { signal } = {}) =>
      read(userFileSchema, send(linkPath(projectId, fileId), { method: 'POST', signal })),
    unlink: (projectId, fileId, { signal } = {}) =>
      submit(transport, linkPath(projectId, fileId), { method: 'DELETE', signal }),
    files: (projectId, { signal } = {}) => readList(userFileSchema, send(`${base}/files/${projectId}`, { signal })),
    moveSession: (sessionId, projectId, { signal } = {}) => {
      const path = projectId === null ? `${base}/remove_chat_session` : `${base}/${projectId}/move_chat_session`
      return submit(transport, path, { method: 'POST', json: { chat_session_id: sessionId }, signal })
    },
  }
}
