import type { JSX } from 'preact'
import { lazyView } from '../controls/lazy-view.tsx'
import type { ServiceCalls } from '../service/calls.ts'
import type { Service } from '../service/service.ts'
import { language } from '../texts/texts.ts'
import type { Counts } from './counts.ts'

export interface DocumentsPlaceProps {
  readonly service: Service
  readonly counts: Counts | undefined
  readonly onCounts: (counts: Counts) => void
  /** Calls of administrators, to change permissions and document sets; null for others. */
  readonly admin: ServiceCalls | null
}

export const DocumentsPlace: (props: DocumentsPlaceProps) => JSX.Element = lazyView(async () => {
  const { loadDocumentsView } = await import('./documents-view.tsx')
  return loadDocumentsView(language)
})
