import { isAmong } from '@inlay/records'
import { sql } from 'kysely'
import { readMetadata } from '../access-and-filters/document-metadata.ts'
import { isInPairs } from '../access-and-filters/documents.ts'
import { resolveFilters } from '../access-and-filters/permissions-and-filters.ts'
import { decodeChunkMetadata } from '../chunking/chunk-metadata.ts'
import { toTags } from '../chunking/rows.ts'
import type { LinkRequest } from '../contracts/link.ts'
import type { FoundPassage } from '../contracts/search.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import type { IndexFilter, TimeRange, VectorIndex } from '../contracts/vector-index.ts'
import { indexedLinkCharacters, linkStart } from '../schema/link-index.ts'
import type { Records } from '../schema/tables.ts'
import { toPassage } from './find-visible-passages.ts'

/** Most chunks that are read of one document, and most documents looked at that share a link. */
const mostChunks = 512
const mostDocuments = 10

export interface LinkContext {
  readonly db: Records
  readonly index: Pick<VectorIndex, 'read'>
}

/**
 * Finds the visible document whose first link is an address and reads all of it; of several, the one accepted last.
 * Undefined when there is none that the caller may see and the filters let through.
 * @throws INSUFFICIENT_PERMISSIONS see `resolveFilters`
 */
export async function findByLink(request: LinkRequest, context: LinkContext): Promise<FoundPassage | undefined> {
  const filter = await resolveFilters(context.db, request.filters, request.caller)
  for (const row of await rowsWith(formsOf(request.link), filter, context.db)) {
    request.signal?.throwIfAborted()
    if (!(await passes(row, filter, context.db))) continue
    const hits = await context.index.read(row.generation, 0, mostChunks - 1)
    const chunks = hits.map((hit) => ({ hit, metadata: decodeChunkMetadata(hit.chunkMetadata) }))
    const [first] = chunks
    // Rows of a generation that was replaced just now may be gone already.
    if (!first) continue
    const metadata = await readMetadata(context.db, first.metadata.metadata ? [] : [row.id])
    const passage = toPassage({ best: first, chunks }, { metadata: metadata.get(row.id) })
    return { ...passage, document: { ...passage.document, score: null } }
  }
  return undefined
}

/** Ways in which one address is written: with and without what it points to on its page, and a last slash. */
function formsOf(link: string): string[] {
  const plain = link.trim()
  const page = plain.replace(/#.*$/s, '')
  const other = page.endsWith('/') ? page.slice(0, -1) : `${page}/`
  return [...new Set([plain, page, other])].filter((form) => form !== '' && form !== '/')
}

interface LinkedRow {
  readonly id: string
  readonly generation: string
  readonly acceptedAt: number
}

async function rowsWith(forms: readonly string[], filter: IndexFilter, db: Records): Promise<LinkedRow[]> {
  if (forms.length === 0 || filter.pairs?.length === 0) return []
  const starts = forms.map((form) => form.slice(0, indexedLinkCharacters))
  let query = db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation', 'accepted_at'])
    // As the index has it: the planner takes it for exactly this condition.
    .where(sql<boolean>`link <> ''`)
    .where(linkStart, 'in', starts)
    .where('link', 'in', forms)
    .where('visible_generation', 'is not', null)
  if (filter.pairs) query = query.where(isInPairs(db, filter.pairs))
  if (filter.sources) query = query.where(isAmong(db, 'source', filter.sources))
  const rows = await query.orderBy('accepted_at', 'desc').orderBy('id').limit(mostDocuments).execute()
  return rows.map((row) => ({
    id: row.id,
    generation: row.visible_generation ?? '',
    acceptedAt: Number(row.accepted_at),
  }))
}

/** Whether tags and dates of a document pass, as they would in a search. */
async function passes({ id, acceptedAt }: LinkedRow, filter: IndexFilter, db: Records): Promise<boolean> {
  const { tags, createdAt, ownUpdatedAt, updatedOrCreatedSince } = filter
  if (!tags && !createdAt && !ownUpdatedAt && updatedOrCreatedSince === undefined) return true
  const row = await db
    .selectFrom('inlay_contents')
    .leftJoin('inlay_large_contents as large', 'large.id', 'inlay_contents.large_id')
    .select(['content', 'large.document as large_document'])
    .where('inlay_contents.id', '=', id)
    .executeTakeFirst()
  if (!row) return false
  // Written by this package alone, from a validated request.
  const document = JSON.parse(row.large_document ?? row.content) as StoredDocument
  const [created, updated] = [toTimestamp(document.doc_created_at), toTimestamp(document.doc_updated_at)]
  const held = new Set(tags ? toTags(document) : [])
  return (
    (tags ?? []).every((any) => any.some((tag) => held.has(tag))) &&
    isIn(created, createdAt) &&
    isIn(updated, ownUpdatedAt) &&
    (updatedOrCreatedSince === undefined || Math.max(updated ?? acceptedAt, created ?? 0) >= updatedOrCreatedSince)
  )
}

function toTimestamp(date: string | null | undefined): number | undefined {
  return date ? Date.parse(date) : undefined
}

function isIn(timestamp: number | undefined, range: TimeRange | undefined): boolean {
  if (!range) return true
  return timestamp !== undefined && timestamp >= (range.start ?? -Infinity) && timestamp <= (range.end ?? Infinity)
}
