import type { JSX } from 'preact'
import type { AdminAccess } from '../admin/admin-place.tsx'
import { lazyView } from '../controls/lazy-view.tsx'
import { language } from '../texts/texts.ts'

export interface HealthPlaceProps {
  readonly access: AdminAccess
  /** The model that answers, named as what it is. */
  readonly model: string
}

export const HealthPlace: (props: HealthPlaceProps) => JSX.Element = lazyView(async () => {
  const { loadHealthView } = await import('./health-view.tsx')
  return loadHealthView(language)
})
