import { Icon } from '../controls/icons.tsx'
import type { Projects } from './projects.ts'

export function ProjectMark({ projects, sessionId }: { projects: Projects; sessionId: string }) {
  const project = projects.of(sessionId)
  if (project === undefined) return null
  return (
    <span class="chat-project u-row u-note">
      <Icon name="folder" />
      {project.name}
    </span>
  )
}
