import { storable } from '@inlay/protocol'
import { mapConcurrent } from '@inlay/scheduling'
import { boundedCall } from '../calls/bounded-call.ts'
import { titleOf, type Summary } from '../chunking/chunk-metadata.ts'
import { imagesOf, type DraftRow } from '../chunking/rows.ts'
import type { ImageDescriber, ImageStore, Summarizer } from '../contracts/models.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import { summaryKey, type KnownRows } from './known-rows.ts'

/** Models that add summaries and descriptions to documents before indexing; each is optional. */
export interface EnrichmentContext {
  readonly images?: ImageStore
  readonly describeImage?: ImageDescriber
  readonly summarize?: Summarizer
  /** Receives the first failure of each kind per claim; the documents are indexed without the result. */
  readonly onError: (error: unknown) => void
  /** Aborts when the worker has to release the claim. */
  readonly signal: AbortSignal
}

/** Model results added to the documents of one claim. */
export interface Enrichment {
  /** Known vectors by their text. */
  readonly vectors: ReadonlyMap<string, Float32Array>
  /** Descriptions of a document's images by id, without images that could not be described. */
  describe(document: StoredDocument): Promise<ReadonlyMap<string, string>>
  summarize(rows: readonly SummarizedRow[]): Promise<DraftRow[]>
}

export interface SummarizedRow {
  readonly row: DraftRow
  readonly document: StoredDocument
  /** Whether the document has other rows; a single chunk needs no context. */
  readonly isPart: boolean
}

const callTimeoutMs = 60_000
/** Concurrent calls of a model. */
const maxCalls = 4
/** About 15,000 tokens. */
const maxDocumentLength = 60_000
/** Maximum characters of a summary (about 200 tokens), and of an image description. */
const maxSummaryLength = 800
const maxDescriptionLength = 4000

/**
 * Creates the enrichment of a claim. Known results are reused, also when the claim is retried. A model that fails is
 * not called again in this claim: its documents are indexed without the result.
 */
export function createEnrichment(known: KnownRows, context: EnrichmentContext): Enrichment {
  const { images, describeImage, summarize } = context
  const describing = lenient('Describing an image', context)
  const summing = lenient('Summing up a document', context)
  const documentSummaries = new Map<string, Promise<string>>()

  async function describeOne(id: string, describer: ImageDescriber, store: ImageStore): Promise<void> {
    const text = await describing(async (signal) => {
      const image = await store.read(id)
      return image ? describer(image.bytes, image.mediaType, signal) : ''
    })
    if (text) known.descriptions.set(id, text.trim().slice(0, maxDescriptionLength).toWellFormed())
  }

  /** Called once per document, however many chunks it has. */
  function summaryOf({ row, document }: SummarizedRow, summarizer: Summarizer): Promise<string> {
    const begun = documentSummaries.get(row.fields.documentId)
    if (begun) return begun
    const request = { kind: 'document', title: titleOf(row.metadata), document: toText(document) } as const
    const pending = summing((signal) => summarizer(request, signal)).then(shorten)
    documentSummaries.set(row.fields.documentId, pending)
    return pending
  }

  async function sumUp(item: SummarizedRow, summarizer: Summarizer): Promise<DraftRow> {
    const { row, document, isPart } = item
    if (!isPart || row.fields.text === '') return row
    const key = summaryKey(row.fields.documentId, row.metadata, row.fields.text)
    const before = known.summaries.get(key)
    if (before) return row.withSummary(before)
    const summary = await summaryOf(item, summarizer)
    const request = {
      kind: 'chunk',
      title: titleOf(row.metadata),
      document: toText(document),
      summary,
      chunk: row.fields.text,
    } as const
    const chunkSummary: Summary = {
      document: summary,
      chunk: shorten(await summing((signal) => summarizer(request, signal))),
    }
    if (chunkSummary.document === '' && chunkSummary.chunk === '') return row
    known.summaries.set(key, chunkSummary)
    return row.withSummary(chunkSummary)
  }

  return {
    vectors: known.vectors,
    describe: async (document) => {
      const ids = new Set(imagesOf(document))
      const missing = [...ids].filter((id) => !known.descriptions.has(id))
      if (images && describeImage)
        await mapConcurrent(missing, maxCalls, (id) => describeOne(id, describeImage, images))
      return known.descriptions
    },
    summarize: async (rows) =>
      summarize ? mapConcurrent(rows, maxCalls, (item) => sumUp(item, summarize)) : rows.map(({ row }) => row),
  }
}

type LenientCall = (call: (signal: AbortSignal) => Promise<string>) => Promise<string>

/** Wraps calls so that they return "" from the first failure on; only the abort of the claim is thrown. */
function lenient(part: string, { onError, signal }: EnrichmentContext): LenientCall {
  let hasFailed = false
  return async (call) => {
    if (hasFailed) return ''
    try {
      // Models may return text that an index cannot store, such as NUL characters.
      return storable(await boundedCall(call, { part, timeoutMs: callTimeoutMs, signal }))
    } catch (error) {
      if (signal.aborted) throw error
      if (!hasFailed) onError(error)
      hasFailed = true
      return ''
    }
  }
}

function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, maxSummaryLength).toWellFormed()
}

function toText({ sections }: StoredDocument): string {
  let text = ''
  for (const section of sections) {
    if (text.length >= maxDocumentLength) break
    const parts = [section.heading ?? '', 'text' in section ? section.text : ''].filter((part) => part !== '')
    if (parts.length > 0) text += `${text && '\n\n'}${parts.join('\n\n')}`
  }
  return text.slice(0, maxDocumentLength)
}
