import { lazily } from '../../markdown/lazily.ts'
import { openPane } from '../../pane/pane-store.ts'

/** A document to look into, and where. */
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

/** Shows a document in the pane, scrolled to a quote. */
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
