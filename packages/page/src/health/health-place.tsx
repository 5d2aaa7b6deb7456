import type { JSX } from 'preact'
import { lazyView } from '../controls/lazy-view.tsx'
import type { ServiceCalls } from '../service/calls.ts'
import { language } from '../texts/texts.ts'

export interface HealthPlaceProps {
  readonly calls: ServiceCalls
  /** The model that answers, named as what it is. */
  readonly model: string
}

export const HealthPlace: (props: HealthPlaceProps) => JSX.Element = lazyView(async () => {
  const { loadHealthView } = await import('./health-view.tsx')
  return loadHealthView(language)
})
