import { storable } from '@inlay/protocol'
import { mapConcurrent } from '@inlay/protocol/concurrency'
import { boundedCall } from '../calls/bounded-call.ts'
import { titleOf, type Summary } from '../chunking/chunk-metadata.ts'
import { imagesOf, type DraftRow } from '../chunking/rows.ts'
import type { ImageDescriber, ImageStore, Summarizer } from '../contracts/models.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import { summaryKey, type KnownRows } from './known-rows.ts'

/** Models that add to documents on their way into the index, as far as there are any. */
export interface EnrichmentContext {
  readonly images?: ImageStore
  readonly describeImage?: ImageDescriber
  readonly summarize?: Summarizer
  /** Receives the first failure of each kind in a claim; the documents go on without. */
  readonly onError: (error: unknown) => void
  /** Aborts when the worker is to let go. */
  readonly signal: AbortSignal
}

/** Model results added to the documents of one claim. */
export interface Enrichment {
  /** Vectors there are already, by the text they were made from. */
  readonly vectors: ReadonlyMap<string, Float32Array>
  /** Descriptions of a document's images by id; of those that could be described. */
  describe(document: StoredDocument): Promise<ReadonlyMap<string, string>>
  /** Rows with what is said of them. */
  summarize(rows: readonly SummarizedRow[]): Promise<DraftRow[]>
}

/** A row, and the text of the document it comes from. */
export interface SummarizedRow {
  readonly row: DraftRow
  readonly document: StoredDocument
  /** Whether the document has other rows; alone, a chunk says itself what it is about. */
  readonly isPart: boolean
}

const callTimeoutMs = 60_000
/** Calls of a model at once. */
const mostCalls = 4
/** About 15,000 tokens. */
const longestDocument = 60_000
/** About 200 tokens, as in the reference; and what an image may take of a chunk. */
const longestSummary = 800
const longestDescription = 4000

/**
 * Makes the enrichment of a claim. What is known already is not asked for again, also by a second try of the claim. A
 * model that fails is not asked again in this claim: its documents are indexed without.
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
    if (text) known.descriptions.set(id, text.trim().slice(0, longestDescription).toWellFormed())
  }

  /** Once a document, however many of its chunks ask. */
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
        await mapConcurrent(missing, mostCalls, (id) => describeOne(id, describeImage, images))
      return known.descriptions
    },
    summarize: async (rows) =>
      summarize ? mapConcurrent(rows, mostCalls, (item) => sumUp(item, summarize)) : rows.map(({ row }) => row),
  }
}

type LenientCall = (call: (signal: AbortSignal) => Promise<string>) => Promise<string>

/** Calls that answer "" from the first one on that fails; only being told to let go is thrown. */
function lenient(part: string, { onError, signal }: EnrichmentContext): LenientCall {
  let hasFailed = false
  return async (call) => {
    if (hasFailed) return ''
    try {
      // Models may write what no index takes.
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
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longestSummary).toWellFormed()
}

function toText({ sections }: StoredDocument): string {
  let text = ''
  for (const section of sections) {
    if (text.length >= longestDocument) break
    const parts = [section.heading ?? '', 'text' in section ? section.text : ''].filter((part) => part !== '')
    if (parts.length > 0) text += `${text && '\n\n'}${parts.join('\n\n')}`
  }
  return text.slice(0, longestDocument)
}
