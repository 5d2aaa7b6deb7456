import type { JSX } from 'preact'
import { lazyView } from '../controls/lazy-view.tsx'
import type { ProjectViewProps } from './project-view.tsx'

/** A project, whose code is loaded when one is opened for the first time. */
export const ProjectPlace: (props: ProjectViewProps) => JSX.Element = lazyView(
  async () => (await import('./project-view.tsx')).ProjectView,
)
