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

/** The caller's projects: files and instructions for the chats in them. Methods with a project id throw NOT_FOUND. */
export interface ProjectsClient {
  /** With their chats, newest first. */
  list(options?: CallOptions): Promise<readonly Project[]>
  /** @param name 1 to 255 characters. @throws INVALID_INPUT */
  create(name: string, options?: CallOptions): Promise<Project>
  /** A project with its files. */
  get(projectId: number, options?: CallOptions): Promise<ProjectDetails>
  update(projectId: number, change: ProjectChange): Promise<Project>
  /** Deletes a project. Its chats and files are kept outside of any project. */
  remove(projectId: number, options?: CallOptions): Promise<void>
  /** Adds a file to a project, by its `id`. */
  link(projectId: number, fileId: string, options?: CallOptions): Promise<UserFile>
  unlink(projectId: number, fileId: string, options?: CallOptions): Promise<void>
  files(projectId: number, options?: CallOptions): Promise<readonly UserFile[]>
  /** Moves a chat session to a project; null removes it from its project. @throws SESSION_NOT_FOUND */
  moveSession(sessionId: string, projectId: number | null, options?: CallOptions): Promise<void>
}

const base = '/user/projects'
const linkPath = (projectId: number, fileId: string): string =>
  `${base}/${projectId}/files/${encodeURIComponent(fileId)}`

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
