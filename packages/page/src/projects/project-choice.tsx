import { Menu } from '../controls/menu.tsx'
import { texts } from '../texts/texts.ts'
import type { Projects } from './projects.ts'

interface ProjectChoiceProps {
  readonly projects: Projects
  readonly sessionId: string
  /** Accessible name of a button with an icon only. Default: the icon and the name of the conversation's project. */
  readonly label?: string
  readonly failed: (error: unknown) => void
}

export function ProjectChoice({ projects, sessionId, label, failed }: ProjectChoiceProps) {
  if (projects.all.length === 0) return null
  const current = projects.of(sessionId)
  const move = (projectId: number | null): void => void projects.move(sessionId, projectId).catch(failed)
  return (
    <Menu
      label={label ?? current?.name ?? texts.projects.choose}
      icon="folder"
      isIconOnly={label !== undefined}
      entries={[
        { label: texts.projects.none, act: () => move(null), isChosen: current === undefined },
        ...projects.all.map(({ id, name }) => ({
          label: name,
          act: () => move(id),
          isChosen: current?.id === id,
        })),
      ]}
    />
  )
}
