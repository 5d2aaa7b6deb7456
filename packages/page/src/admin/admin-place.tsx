import type { Client } from '@inlay/client'
import type { JSX } from 'preact'
import type { AdminSection } from '../address.ts'
import { lazyView } from '../controls/lazy-view.tsx'
import type { Service } from '../service/service.ts'
import { language } from '../texts/texts.ts'

/** Client and key for the routes of the administration. */
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

export const AdminPlace: (props: AdminPlaceProps) => JSX.Element = lazyView(async () => {
  const { loadAdminView } = await import('./admin-view.tsx')
  return loadAdminView(language)
})
