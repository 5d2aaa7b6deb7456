import type { Client } from '@inlay/client'
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { AdminSection } from '../address.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import type { Service } from '../service/service.ts'
import { language, texts } from '../texts/texts.ts'

/** What the administration calls routes with. */
export interface AdminAccess {
  readonly client: Client
  readonly baseUrl: string
  readonly apiKey: string
}

export interface AdminPlaceProps {
  readonly section: AdminSection
  readonly access: AdminAccess
  readonly service: Service
  readonly modelChanged: () => void
  readonly agentsChanged: () => void
  readonly tryAgent: (agentId: number) => void
}

type View = ComponentType<AdminPlaceProps>

/** The administration, whose code is loaded when it is opened for the first time. */
export function AdminPlace(props: AdminPlaceProps): JSX.Element {
  const [view, setView] = useState<{ readonly View: View } | 'failed' | undefined>(undefined)
  useEffect(() => {
    import('./admin-view.tsx')
      .then(({ loadAdminView }) => loadAdminView(language))
      .then(
        (View) => setView({ View }),
        () => setView('failed'),
      )
  }, [])
  if (view === 'failed') return <FailureNote failure={{ message: texts.frame.unreachable }} />
  if (view === undefined) return <p class="nothing">{texts.frame.loading}</p>
  return <view.View {...props} />
}
