import { lazily } from '../../markdown/lazily.ts'
import { openPane } from '../../pane/pane-store.ts'
import type { Service } from '../../service/service.ts'

export interface DocumentPlace {
  readonly documentId: string
  readonly title: string
  readonly link?: string | null
  /** Index of the chunk to show first. Default: the beginning. */
  readonly chunk?: number
  /** Text to scroll to and mark, such as the sentence of an answer. */
  readonly quote?: string
  /** A passage in Markdown, marked where there is no quote, or it is not there word for word. */
  readonly passage?: string
}

const usePreview = lazily(async () => (await import('./document-preview.tsx')).DocumentPreview)

export async function openDocumentById(documentId: string, service: Pick<Service, 'documentChunks'>): Promise<void> {
  // The pane says why it cannot be read.
  const read = await service.documentChunks(documentId, 0, 1).catch(() => undefined)
  openDocument({ documentId, title: read?.semantic_identifier ?? documentId })
}

export function openDocument(place: DocumentPlace): void {
  openPane({
    id: JSON.stringify(['document', place.documentId, place.chunk, place.quote]),
    title: place.title,
    link: place.link ?? undefined,
    view: ({ service }) => {
      const Preview = usePreview(true)
      return Preview === undefined ? <div class="skeleton" /> : <Preview place={place} service={service} />
    },
  })
}
