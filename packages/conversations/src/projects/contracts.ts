import type { Principal } from '@inlay/protocol'
import type { StoredFile } from '@inlay/agent'
import type { SessionListing } from '../sessions/stored-session.ts'

/** Files and instructions for some chats of one caller. */
export interface StoredProject {
  readonly id: number
  readonly ownerId: string
  readonly name: string
  /** "" when it has none. */
  readonly description: string
  /** Instructions for the model in the project's chats; null for none. */
  readonly instructions: string | null
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

export interface ProjectWithSessions extends StoredProject {
  /** Newest update first. */
  readonly sessions: readonly SessionListing[]
}

/** Projects of callers. Each call: NOT_FOUND for a project or file, SESSION_NOT_FOUND for a session, that is not theirs. */
export interface Projects {
  /** Newest first. */
  list(caller: Principal): Promise<readonly ProjectWithSessions[]>
  /** INVALID_INPUT for a name that is blank or longer than 255 characters. */
  create(name: string, caller: Principal): Promise<ProjectWithSessions>
  get(id: number, caller: Principal): Promise<ProjectWithSessions>
  /** Absent fields keep their values. INVALID_INPUT like `create`. */
  update(
    id: number,
    change: { readonly name?: string; readonly description?: string; readonly instructions?: string | null },
    caller: Principal,
  ): Promise<ProjectWithSessions>
  /** Its chats and files are kept. */
  remove(id: number, caller: Principal): Promise<void>
  /** In the order in which they were linked. */
  files(id: number, caller: Principal): Promise<readonly StoredFile[]>
  /** Idempotent. */
  link(id: number, fileId: string, caller: Principal): Promise<StoredFile>
  /** No error when the file is not linked. */
  unlink(id: number, fileId: string, caller: Principal): Promise<void>
  /** Moves a chat into a project; null takes it out of any. */
  moveSession(sessionId: string, projectId: number | null, caller: Principal): Promise<void>
  /** The files of the project a chat is in; none when it is in none. */
  sessionFiles(sessionId: string, caller: Principal): Promise<readonly StoredFile[]>
}
