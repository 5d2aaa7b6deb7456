import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { FailureNote } from '../controls/failure-note.tsx'
import { texts } from '../texts/texts.ts'
import type { ProjectViewProps } from './project-view.tsx'

/** A project, whose code is loaded when one is opened for the first time. */
export function ProjectPlace(props: ProjectViewProps): JSX.Element {
  const [view, setView] = useState<{ readonly View: ComponentType<ProjectViewProps> } | 'failed' | undefined>(undefined)
  useEffect(() => {
    import('./project-view.tsx').then(
      ({ ProjectView: View }) => setView({ View }),
      () => setView('failed'),
    )
  }, [])
  if (view === 'failed') return <FailureNote failure={{ message: texts.frame.unreachable }} />
  if (view === undefined) return <p class="nothing">{texts.frame.loading}</p>
  return <view.View {...props} />
}
