import { isAmong } from '@inlay/records'
import { type RawBuilder, sql } from 'kysely'
import { readMetadata } from '../access-and-filters/document-metadata.ts'
import { amongPairs, isInPairs } from '../access-and-filters/documents.ts'
import { resolveFilters } from '../access-and-filters/search-filters.ts'
import { readHits } from '../chunking/chunk-metadata.ts'
import { toTags } from '../chunking/rows.ts'
import type { LinkRequest } from '../contracts/link.ts'
import type { FoundPassage } from '../contracts/search.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import type { IndexFilter, TimeRange } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import type { ExcerptContext } from './excerpt.ts'
import { toPassage } from './find-visible-passages.ts'

/** Maximum number of chunks read of a document, and of documents checked that share a link. */
const maxChunks = 512
const maxDocuments = 10
/** Maximum number of attempts for documents that are updated while they are read. */
const maxReads = 3

/** Characters of a link in the index, since Postgres limits the size of index rows. */
const indexedCharacters = 400
/** SQL expression for the start of a link, as in the index. */
export const linkStart: RawBuilder<string> = sql<string>`substr(link, 1, ${sql.lit(indexedCharacters)})`

/** See `Knowledge.byLink`. Of several documents, the one accepted last. */
export async function findByLink(request: LinkRequest, context: ExcerptContext): Promise<FoundPassage | undefined> {
  const filter = await resolveFilters(context.db, request.filters, request.caller)
  for (let reads = 1; ; reads++) {
    let wasReplaced = false
    for (const row of await rowsWith(formsOf(request.link), filter, context.db)) {
      request.signal?.throwIfAborted()
      if (!(await passes(row, filter, context.db))) continue
      const chunks = readHits(await context.index.read(row.generation, 0, maxChunks - 1))
      const [first] = chunks
      if (!first) {
        // Rows of a generation that was just replaced may already be removed.
        wasReplaced = true
        continue
      }
      const metadata = await readMetadata(context.db, first.metadata.metadata ? [] : [row.id])
      const passage = toPassage({ best: first, chunks }, { metadata: metadata.get(row.id) })
      return { ...passage, document: { ...passage.document, score: null } }
    }
    if (!wasReplaced || reads === maxReads) return undefined
  }
}

/** Spellings of the same URL: with and without the fragment and a trailing slash. */
function formsOf(link: string): string[] {
  const plain = link.trim()
  const page = plain.replace(/#.*/s, '')
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
  const starts = forms.map((form) => form.slice(0, indexedCharacters))
  let query = db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation', 'accepted_at'])
    // Same condition as in the index, which the planner needs to use it.
    .where(sql<boolean>`link <> ''`)
    .where(linkStart, 'in', starts)
    .where('link', 'in', forms)
    .where('visible_generation', 'is not', null)
  if (filter.pairs) query = query.where(isInPairs(amongPairs(db, filter.pairs)))
  if (filter.sources) query = query.where(isAmong(db, 'source', filter.sources))
  const rows = await query.orderBy('accepted_at', 'desc').orderBy('id').limit(maxDocuments).execute()
  return rows.map((row) => ({
    id: row.id,
    generation: row.visible_generation ?? '',
    acceptedAt: Number(row.accepted_at),
  }))
}

/** Whether the tags and dates of a document match the filter, as in a search. */
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
  // Written only by this package, from a validated request.
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
