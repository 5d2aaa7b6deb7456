import type { JSX } from 'preact'
import { lazyView } from '../controls/lazy-view.tsx'
import type { ProjectViewProps } from './project-view.tsx'

export const ProjectPlace: (props: ProjectViewProps) => JSX.Element = lazyView(
  async () => (await import('./project-view.tsx')).ProjectView,
)
