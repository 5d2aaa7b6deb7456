import type { Project } from '@inlay/protocol'
import { useLoaded } from '../controls/use-loaded.ts'
import type { Service } from '../service/service.ts'
import { announceChange, useChange } from '../service/tabs.ts'

/** Projects of the person, newest first, and the calls that change which there are. */
export type Projects = ReturnType<typeof useProjects>

export function useProjects(service: Pick<Service, 'projects'>, first: readonly Project[]) {
  const { value: all = [], reload } = useLoaded(() => service.projects.list(), [service], { first })
  useChange(['projects'], () => void reload())
  return {
    all,
    create: async (name: string): Promise<number> => {
      const { id } = await service.projects.create(name)
      announceChange({ kind: 'projects' })
      return id
    },
    of: (sessionId: string): Project | undefined =>
      all.find(({ chat_sessions: chats }) => chats.some(({ id }) => id === sessionId)),
    /** Moves a conversation into a project, or with null out of any. */
    move: async (sessionId: string, projectId: number | null): Promise<void> => {
      await service.projects.moveSession(sessionId, projectId)
      announceChange({ kind: 'projects' })
    },
  }
}
