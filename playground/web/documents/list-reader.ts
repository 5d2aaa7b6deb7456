import type { DocMinimalInfo, DocumentStateName } from '@inlay/protocol'
import type { ListedDocument, Service } from '../service/service.ts'
import { countDocuments, type Counts } from './counts.ts'

/** Which documents a person wants to see. */
export interface DocumentFilter {
  /** Null for all. */
  readonly state: DocumentStateName | null
  /** Part of the title or id; blank for all. */
  readonly words: string
}

/** The documents as they were read at one time. */
export interface Listing {
  readonly documents: readonly ListedDocument[]
  readonly shown: readonly ListedDocument[]
  readonly hasMore: boolean
  readonly counts: Counts
}

/** Rows that are shown at first, and further ones with each request for more. */
export const firstRows = 100
/** Most rows of one answer of the service. */
const pageRows = 1000

/** Reads documents, the newest first. The reasons of failures are asked for once. */
export function createListReader(service: Service): {
  read(wanted: { filter: DocumentFilter; rows: number }, signal: AbortSignal): Promise<Listing>
} {
  const reasons = new Map<string, string | null>()

  /** A failed document stays as it is until it is tried again. */
  async function readReasons(documents: readonly DocMinimalInfo[]): Promise<void> {
    for (const { document_id: id, state } of documents) if (state !== 'failed') reasons.delete(id)
    const unknown = documents
      .filter(({ document_id: id, state }) => state === 'failed' && !reasons.has(id))
      .slice(0, 20)
    await Promise.all(
      unknown.map(async ({ document_id: id }) => reasons.set(id, await service.failureReason(id).catch(() => null))),
    )
  }

  async function readRows(
    { state, words }: DocumentFilter,
    rows: number,
    signal: AbortSignal,
  ): Promise<{ documents: readonly DocMinimalInfo[]; hasMore: boolean }> {
    const documents: DocMinimalInfo[] = []
    let after: string | null = null
    do {
      const page = await service.documents({
        limit: Math.min(pageRows, rows - documents.length),
        ...(state !== null && { state }),
        ...(words.trim() !== '' && { match: words.trim() }),
        ...(after !== null && { after }),
        signal,
      })
      documents.push(...page.documents)
      after = page.next
    } while (after !== null && documents.length < rows)
    return { documents, hasMore: after !== null }
  }

  return {
    async read({ filter, rows }, signal) {
      const all = await readRows({ state: null, words: '' }, firstRows, signal)
      const isNarrowed = filter.state !== null || filter.words.trim() !== ''
      const own = isNarrowed || rows > firstRows ? await readRows(filter, rows, signal) : all
      const known = all.hasMore ? await service.counts(signal) : null
      const counts = countDocuments(
        all.documents.map(({ state }) => state),
        all.hasMore,
        known,
      )
      await readReasons(own.documents)
      const listed = (documents: readonly DocMinimalInfo[]): readonly ListedDocument[] =>
        documents.map((document) => toListed(document, reasons))
      return { documents: listed(all.documents), shown: listed(own.documents), hasMore: own.hasMore, counts }
    },
  }
}

function toListed(document: DocMinimalInfo, reasons: ReadonlyMap<string, string | null>): ListedDocument {
  return {
    id: document.document_id,
    title: document.semantic_id === '' ? document.document_id : document.semantic_id,
    link: document.link ?? '',
    state: document.state,
    reason: reasons.get(document.document_id) ?? null,
  }
}
