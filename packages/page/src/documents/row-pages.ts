import type { DocMinimalInfo, DocumentStateName } from '@inlay/protocol'
import type { ListedDocument, Service } from '../service/service.ts'
import { countDocuments, exactCounts, type Counts } from './counts.ts'

/** Which documents a person wants to see. */
export interface DocumentFilter {
  /** Null for all. */
  readonly state: DocumentStateName | null
  /** Part of the title or id; blank for all. */
  readonly words: string
  /** Id of a document set; null for all. */
  readonly set: number | null
  /** As the server names it; null for all. */
  readonly tag: string | null
}

/** No filter at all. */
export const everything: DocumentFilter = { state: null, words: '', set: null, tag: null }

/** Whether a filter leaves documents out. */
export function isNarrow({ state, words, set, tag }: DocumentFilter): boolean {
  return state !== null || words.trim() !== '' || set !== null || tag !== null
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

/** Reads documents, the newest first. */
export function createListReader(service: Service): {
  /** The counts alone; null where the key may not ask for them. */
  readCounts(signal: AbortSignal): Promise<Counts | null>
  read(wanted: { filter: DocumentFilter; rows: number }, signal: AbortSignal): Promise<Listing>
} {
  async function readRows(
    { state, words, set, tag }: DocumentFilter,
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
        ...(set !== null && { documentSet: set }),
        ...(tag !== null && { tag }),
        ...(after !== null && { after }),
        signal,
      })
      documents.push(...page.documents)
      after = page.next
    } while (after !== null && documents.length < rows)
    return { documents, hasMore: after !== null }
  }

  return {
    async readCounts(signal) {
      const known = await service.counts(signal)
      return known && exactCounts(known)
    },
    async read({ filter, rows }, signal) {
      const all = await readRows(everything, firstRows, signal)
      const isNarrowed = isNarrow(filter)
      const own = isNarrowed || rows > firstRows ? await readRows(filter, rows, signal) : all
      const known = all.hasMore ? await service.counts(signal) : null
      const counts = countDocuments(
        all.documents.map(({ state }) => state),
        all.hasMore,
        known,
      )
      const listed = (documents: readonly DocMinimalInfo[]): readonly ListedDocument[] => documents.map(toListed)
      return { documents: listed(all.documents), shown: listed(own.documents), hasMore: own.hasMore, counts }
    },
  }
}

function toListed({ details, ...document }: DocMinimalInfo): ListedDocument {
  return {
    id: document.document_id,
    title: document.semantic_id === '' ? document.document_id : document.semantic_id,
    link: document.link ?? '',
    state: document.state,
    // A document that waits for another try has one too.
    reason: document.state === 'failed' ? (details?.reason ?? null) : null,
    bytes: details?.bytes,
    acceptedAt: details && new Date(details.accepted_at),
    tags: details?.tags ?? [],
  }
}
