import type { JSX } from 'preact'
import type { AdminSection } from '../address.ts'
import { lazyView } from '../controls/lazy-view.tsx'
import type { ServiceCalls } from '../service/calls.ts'
import type { Service } from '../service/service.ts'
import { language } from '../texts/texts.ts'

export interface AdminPlaceProps {
  readonly section: AdminSection
  readonly calls: ServiceCalls
  readonly service: Service
  readonly modelChanged: () => void
  readonly agentsChanged: () => void
  readonly tryAgent: (agentId: number) => void
}

export const AdminPlace: (props: AdminPlaceProps) => JSX.Element = lazyView(async () => {
  const { loadAdminView } = await import('./admin-view.tsx')
  return loadAdminView(language)
})
