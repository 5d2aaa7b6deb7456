import { useEffect, useState } from 'preact/hooks'
import { listedProjects } from '../service/listed-projects.ts'
import type { ListedProject, Service } from '../service/service.ts'
import { announceChange, onAnyChange } from '../service/tabs.ts'

/** Projects of the person, and the calls that change which there are. */
export interface Projects {
  /** Newest first. */
  readonly all: readonly ListedProject[]
  /** Gives its number. */
  create(name: string): Promise<number>
  /** Moves a conversation into a project, or with null out of any. */
  move(sessionId: string, projectId: number | null): Promise<void>
}

/** Reloads the projects after a change, in this tab or another, and after a new conversation in one. */
export function useProjects(service: Pick<Service, 'projects'>, first: readonly ListedProject[]): Projects {
  const [all, setAll] = useState(first)
  useEffect(() => {
    let round = 0
    const read = (): void => {
      const mine = ++round
      service.projects.list().then(
        (projects) => mine === round && setAll(listedProjects(projects)),
        // Keeps the previous list.
        () => {},
      )
    }
    const end = onAnyChange(({ kind }) => kind === 'projects' && read())
    return () => {
      round = Number.POSITIVE_INFINITY
      end()
    }
  }, [service])
  return {
    all,
    create: async (name) => {
      const { id } = await service.projects.create(name)
      announceChange({ kind: 'projects' })
      return id
    },
    move: async (sessionId, projectId) => {
      await service.projects.moveSession(sessionId, projectId)
      announceChange({ kind: 'projects' })
    },
  }
}
