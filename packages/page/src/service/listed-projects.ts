import type { Project } from '@inlay/protocol'
import type { ListedProject } from './service.ts'

/** Converts projects of the service to those that the page lists. */
export function listedProjects(projects: readonly Project[]): readonly ListedProject[] {
  return projects.map(({ id, name, chat_sessions: chats }) => ({ id, name, chatIds: chats.map((chat) => chat.id) }))
}
