import type { DocMinimalInfo, DocumentOrder, DocumentStateName } from '@inlay/protocol'
import type { Service } from '../service/service.ts'

export interface DocumentFilter {
  /** Null for all. */
  readonly state: DocumentStateName | null
  /** Part of the title or id; blank for all. */
  readonly words: string
  /** Id of a document set; null for all. */
  readonly set: number | null
  /** In the form of the server; null for all. */
  readonly tag: string | null
}

export const everything: DocumentFilter = { state: null, words: '', set: null, tag: null }

export function isNarrow({ state, words, set, tag }: DocumentFilter): boolean {
  return state !== null || words.trim() !== '' || set !== null || tag !== null
}

export function queryOf({ state, words, set, tag }: DocumentFilter): Omit<DocumentsQuery, 'limit'> {
  return {
    ...(state !== null && { state }),
    ...(words.trim() !== '' && { match: words.trim() }),
    ...(set !== null && { documentSet: set }),
    ...(tag !== null && { tag }),
  }
}

type DocumentsQuery = Parameters<Service['documents']>[0]

export interface RowPage {
  /** Cursor it was read after; null for the first. */
  readonly after: string | null
  readonly limit: number
  readonly rows: readonly ListedDocument[]
  /** Cursor of the page that follows; null for the last. */
  readonly next: string | null
}

/** Indexes of rows, both included. */
export interface RowRange {
  readonly first: number
  readonly last: number
}

/** Rows of a call at least and at most. */
const minRows = 100
const maxRows = 1000

export type ReadPage = (after: string | null, limit: number) => Promise<RowPage>

export function pageReader(
  service: Pick<Service, 'documents'>,
  { filter, order }: { readonly filter: DocumentFilter; readonly order: DocumentOrder },
  signal: AbortSignal,
): ReadPage {
  return async (after, limit) => {
    const query = { ...queryOf(filter), limit, order, ...(after !== null && { after }), signal }
    const { documents, next } = await service.documents(query)
    return { after, limit, rows: documents.map(toListed), next }
  }
}

/**
 * Reads the pages again that hold a range of rows. Pages before them stay as they are; those behind them too, unless
 * documents came or went so that they no longer follow.
 */
export async function rereadPages(
  pages: readonly RowPage[],
  { first, last }: RowRange,
  read: ReadPage,
): Promise<readonly RowPage[]> {
  let count = 0
  let from = 0
  while (from < pages.length - 1 && count + pages[from]!.rows.length <= first) count += pages[from++]!.rows.length
  const result = pages.slice(0, from)
  for (let after = pages[from]?.after ?? null; ;) {
    const before = pages[result.length]
    const limit = before?.after === after ? before.limit : limitFor(last + 1 - count)
    const page = await read(after, limit)
    result.push(page)
    count += page.rows.length
    if (page.next === null) return result
    if (count > last)
      return pages[result.length]?.after === page.next ? [...result, ...pages.slice(result.length)] : result
    after = page.next
  }
}

export async function readNextPage(pages: readonly RowPage[], read: ReadPage): Promise<readonly RowPage[]> {
  const next = pages.at(-1)?.next ?? null
  return next === null ? pages : [...pages, await read(next, minRows)]
}

/** A multiple of the least number, so that pages stay the same while a person scrolls. */
const limitFor = (wanted: number): number => Math.min(maxRows, Math.max(minRows, Math.ceil(wanted / minRows) * minRows))

export interface NamedDocument {
  readonly id: string
  readonly title: string
}

/** All documents that a filter finds, also those that no row shows. */
export async function readAllFound(
  service: Pick<Service, 'documents'>,
  filter: DocumentFilter,
  signal: AbortSignal,
): Promise<readonly NamedDocument[]> {
  const documents: NamedDocument[] = []
  let after: string | null = null
  do {
    const query: DocumentsQuery = {
      ...queryOf(filter),
      order: 'id',
      details: false,
      limit: maxRows,
      ...(after !== null && { after }),
      signal,
    }
    const page = await service.documents(query)
    documents.push(...page.documents.map(({ document_id: id, semantic_id: title }) => ({ id, title: title || id })))
    after = page.next
  } while (after !== null)
  return documents
}

export type ListedDocument = ReturnType<typeof toListed>

function toListed({ details, ...document }: DocMinimalInfo) {
  return {
    id: document.document_id,
    title: document.semantic_id === '' ? document.document_id : document.semantic_id,
    link: document.link ?? '',
    state: document.state,
    // A document that waits for another try has one too.
    reason: document.state === 'failed' ? (details?.reason ?? null) : null,
    /** Size of the text as stored; undefined if the server does not report it. */
    bytes: details?.bytes,
    acceptedAt: details && new Date(details.accepted_at),
    pairIds: details?.cc_pair_ids ?? [],
    tags: details?.tags ?? [],
  }
}
