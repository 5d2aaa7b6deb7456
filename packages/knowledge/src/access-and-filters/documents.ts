import { isAmong } from '@inlay/records'
import { InlayError, isStorable } from '@inlay/protocol'
import { sql, type Expression, type ExpressionBuilder, type RawBuilder, type Selectable, type SqlBool } from 'kysely'
import { pairsFor, type PairScope } from './permissions.ts'
import type { DocumentQuery, DocumentStatus } from '../contracts/documents.ts'
import type { Caller } from '../contracts/pairs.ts'
import { fromTag } from '../contracts/vector-index.ts'
import { type ListOrder, listOrders } from '../schema/list-orders.ts'
import { phase, idsOf } from '../schema/sql.ts'
import { mayBeNamed } from '../schema/document-names.ts'
import type { DocumentRow, Records, Tables } from '../schema/tables.ts'

/** Undefined when it does not exist or the caller cannot see it. */
export async function readStatus(
  db: Records,
  id: string,
  caller: Caller | undefined,
  needsTags = false,
): Promise<DocumentStatus | undefined> {
  const pairs = await pairsFor(db, caller)
  const rows = await documentsIn(db, pairs)
    .select([...columns])
    .where('id', '=', id)
    .execute()
  const statuses = await toStatuses(db, rows)
  return (needsTags && statuses[0]?.phase === 'indexed' ? await withTags(db, statuses, pairs) : statuses)[0]
}

export async function listDocuments(
  db: Records,
  query: DocumentQuery,
  caller: Caller | undefined,
): Promise<{ documents: DocumentStatus[]; next: string | null }> {
  const limit = Math.min(Math.max(Math.trunc(query.limit ?? 100), 1), 1000)
  const pairs = await pairsFor(db, caller, query.pairId)
  const order = listOrders[query.order ?? 'id']
  let page = db
    .selectFrom('inlay_documents')
    .select([...columns])
    .select(order.key.as('sort_key'))
  const access = pairs && (await isListed(db, pairs))
  // When text is searched for, access is only checked for the documents that match.
  const match = query.match?.trim().toLowerCase() ?? ''
  if (match.length > maxMatchLength) return { documents: [], next: null }
  if (access && (match === '' || access.isSorted)) page = page.where(access.condition)
  if (query.phase) page = page.where('state', '=', phase[query.phase])
  if (query.source) page = page.where('source', '=', query.source)
  if (query.documentId !== undefined) page = page.where('id', '=', query.documentId)
  if (query.pairIds) page = page.where(isInPairs(amongPairs(db, query.pairIds)))
  if (query.tag) page = page.where('id', 'in', idsTagged(db, query.tag, pairs))
  if (query.after !== undefined) page = page.where(isAfter(query.after, order))
  const direction = order.isDescending ? 'desc' : 'asc'
  // Documents with the same key follow by revision.
  const ordered = order.isUnique
    ? page.orderBy(order.key, direction)
    : page.orderBy(order.key, direction).orderBy('revision', direction)
  const cursorOf = ({ sort_key: key, revision }: ListedRow): string =>
    order.isUnique ? String(key) : JSON.stringify([order.isNumber ? Number(key) : key, Number(revision)])
  let rows: ListedRow[]
  let seen: ListedRow | undefined
  if (match === '') rows = await ordered.limit(limit + 1).execute()
  else {
    let next = db.selectFrom(ordered.limit(maxMatched).as('inlay_documents')).selectAll().where(isMatch(match))
    if (access && !access.isSorted) next = next.where(access.condition)
    const matching = next.orderBy('sort_key', direction)
    rows = await (order.isUnique ? matching : matching.orderBy('revision', direction)).limit(limit + 1).execute()
    if (rows.length <= limit) {
      const indexed = mayBeNamed(db, match)
      // The text is too short for the index: scan a limited number; the next page continues.
      if (!indexed)
        [seen] = await ordered
          .offset(maxMatched - 1)
          .limit(1)
          .execute()
      else
        rows = await (access && !access.isSorted ? ordered.where(access.condition) : ordered)
          .where(isMatch(match))
          .where(indexed)
          .limit(limit + 1)
          .execute()
    }
  }
  const statuses = await toStatuses(db, rows.slice(0, limit))
  const documents = query.withTags ? await withTags(db, statuses, pairs) : statuses
  if (rows.length > limit) return { documents, next: cursorOf(rows[limit - 1]!) }
  return { documents, next: seen ? cursorOf(seen) : null }
}

/**
 * Up to this number, documents are sorted by the query. A caller who can see more documents sees most of what an
 * ordered scan reads.
 */
const maxSorted = 20_000

/** Condition of a listing: documents are in these pairs. The SQL depends on their number. */
async function isListed(
  db: Records,
  pairs: PairScope,
): Promise<{ readonly condition: RawBuilder<SqlBool>; readonly isSorted: boolean }> {
  const counted = await db
    .selectFrom('inlay_pair_counts')
    .select((of) => of.fn.sum<number | string | null>('amount').as('count'))
    .where(pairs.holds('pair_id'))
    .executeTakeFirst()
  if (Number(counted?.count ?? 0) <= maxSorted)
    return {
      isSorted: true,
      condition: sql<SqlBool>`id in (select document_id from inlay_document_pairs where ${pairs.holds('pair_id')})`,
    }
  return {
    isSorted: false,
    condition: sql<SqlBool>`(
      select 1 from inlay_document_pairs where document_id = inlay_documents.id and ${pairs.holds('pair_id')} limit 1
    ) is not null`,
  }
}

/** Maximum number of documents scanned for a text that the index cannot find, or that many documents contain. */
const maxMatched = 5_000

/** Query condition: documents come after a cursor. @throws INVALID_INPUT for a cursor of another order */
function isAfter(after: string, { key, isDescending, isUnique, isNumber }: ListOrder): RawBuilder<SqlBool> {
  const compared = sql.raw(isDescending ? '<' : '>')
  if (isUnique) return sql<SqlBool>`${key} ${compared} ${isNumber ? revisionOf(after) : after}`
  const [last, revision] = keyAndRevisionOf(after)
  if (typeof last !== (isNumber ? 'number' : 'string')) throw otherOrder()
  return sql<SqlBool>`(${key}, revision) ${compared} (${last}, ${revision})`
}

/** Revisions increase in the order of acceptance. */
function revisionOf(after: string): number {
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw otherOrder()
}

function keyAndRevisionOf(after: string): readonly [key: string | number, revision: number] {
  try {
    const [key, revision]: unknown[] = JSON.parse(after)
    const isKey = typeof key === 'string' ? isStorable(key) : Number.isSafeInteger(key)
    if (isKey && Number.isSafeInteger(revision)) return [key as string | number, revision as number]
  } catch {
    // Refused below.
  }
  throw otherOrder()
}

const otherOrder = (): InlayError =>
  new InlayError('INVALID_INPUT', { message: '"after" must be the cursor of a page in the same order.' })

/** No title or id is longer, and SQLite takes no pattern of more than 50,000 bytes. */
const maxMatchLength = 10_000

function isMatch(text: string): RawBuilder<SqlBool> {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`(lower(inlay_documents.semantic_identifier) like ${pattern} escape '\\' or lower(inlay_documents.id) like ${pattern} escape '\\')`
}

const columns = [
  'id',
  'revision',
  'semantic_identifier',
  'link',
  'source',
  'state',
  'reason',
  'attempts',
  'failures',
  'interruptions',
  'due_at',
  'accepted_at',
  'indexed_at',
  'chunk_count',
  'content_bytes',
] as const

export function isInPairs(scope: PairScope): (of: ExpressionBuilder<Tables, 'inlay_documents'>) => Expression<SqlBool> {
  return (of) =>
    of.exists(
      of
        .selectFrom('inlay_document_pairs')
        .select('pair_id')
        .whereRef('document_id', '=', 'inlay_documents.id')
        .where(scope.holds('pair_id')),
    )
}

export const amongPairs = (db: Records, ids: readonly number[]): PairScope => ({
  holds: (column) => isAmong(db, column, ids),
})

const documentsIn = (db: Records, pairs: PairScope | undefined) => {
  const all = db.selectFrom('inlay_documents')
  return pairs ? all.where(isInPairs(pairs)) : all
}

/** Those of the documents that the caller may see and that are searchable. */
export async function readableAmong(
  db: Records,
  documentIds: readonly string[],
  caller: Caller | undefined,
): Promise<Set<string>> {
  const rows = await documentsIn(db, await pairsFor(db, caller))
    .select('id')
    .where('visible_generation', 'is not', null)
    .where(isAmong(db, 'id', documentIds))
    .execute()
  return new Set(idsOf(rows))
}

const maxFailuresRead = 500

/**
 * Failed documents by pair, latest first. Reads only the latest of all pairs, so older failures of a pair may be
 * missing.
 * @param limit maximum number per pair
 */
export async function readLatestFailures(
  db: Records,
  pairIds: readonly number[],
  limit: number,
): Promise<Map<number, DocumentStatus[]>> {
  const byPair = new Map<number, DocumentStatus[]>()
  if (pairIds.length === 0) return byPair
  // A single pair gets its own query, which finds its failures however old they are.
  const documents = db.selectFrom('inlay_documents')
  const isOfPair = pairIds.length === 1 && (await isListed(db, amongPairs(db, pairIds))).condition
  const rows = await (isOfPair ? documents.where(isOfPair) : documents)
    .select([...columns])
    .where('state', '=', phase.failed)
    .orderBy('due_at', 'desc')
    .orderBy('id')
    .limit(pairIds.length === 1 ? limit : maxFailuresRead)
    .execute()
  const wanted = new Set(pairIds)
  for (const status of await toStatuses(db, rows))
    for (const id of status.pairIds) {
      const known = byPair.get(id) ?? []
      if (wanted.has(id) && known.length < limit) byPair.set(id, [...known, status])
    }
  return byPair
}

interface ListedRow extends Pick<Selectable<DocumentRow>, (typeof columns)[number]> {
  readonly sort_key?: number | string
}

async function toStatuses(db: Records, rows: readonly ListedRow[]): Promise<DocumentStatus[]> {
  if (rows.length === 0) return []
  const memberships = await db
    .selectFrom('inlay_document_pairs')
    .innerJoin('inlay_pairs', 'inlay_pairs.id', 'pair_id')
    .select(['document_id', 'pair_id'])
    .where('is_removed', '=', 0)
    .where(isAmong(db, 'document_id', idsOf(rows)))
    .orderBy('pair_id')
    .execute()
  const byDocument = Map.groupBy(memberships, (row) => row.document_id)
  return rows.map((row) => ({
    documentId: row.id,
    semanticIdentifier: row.semantic_identifier,
    link: row.link,
    source: row.source,
    phase: row.state,
    reason: row.reason,
    attempts: row.attempts,
    // A document waiting for its first attempt has no next attempt.
    nextTryAt: row.state === 'pending' && row.reason !== null ? Number(row.due_at) : null,
    acceptedAt: Number(row.accepted_at),
    indexedAt: row.indexed_at === null ? null : Number(row.indexed_at),
    chunkCount: row.chunk_count,
    contentBytes: Number(row.content_bytes),
    pairIds: (byDocument.get(row.id) ?? []).map((membership) => membership.pair_id),
  }))
}

async function withTags(
  db: Records,
  documents: readonly DocumentStatus[],
  pairs: PairScope | undefined,
): Promise<DocumentStatus[]> {
  if (documents.length === 0) return []
  let links = db
    .selectFrom('inlay_document_tags as link')
    .innerJoin('inlay_tags as tag', 'tag.id', 'link.tag_id')
    .select(['document_id', 'tag_key as key', 'tag_value as value', 'source'])
    .distinct()
    .where(
      isAmong(
        db,
        'document_id',
        documents.map(({ documentId }) => documentId),
      ),
    )
  if (pairs) links = links.where(pairs.holds('pair_id'))
  const rows = await links.orderBy('tag_key').orderBy('tag_value').execute()
  const byDocument = Map.groupBy(rows, (row) => row.document_id)
  return documents.map((document) => ({
    ...document,
    tags: (byDocument.get(document.documentId) ?? []).map(({ key, value, source }) => ({ key, value, source })),
  }))
}

const idsTagged = (db: Records, tag: string, pairs: PairScope | undefined) => {
  const { key, value } = fromTag(tag)
  const links = db
    .selectFrom('inlay_document_tags')
    .innerJoin('inlay_tags', 'inlay_tags.id', 'tag_id')
    .select('document_id')
    .where('tag_key', '=', key)
    .where('tag_value', '=', value)
  return pairs ? links.where(pairs.holds('pair_id')) : links
}

export async function listSources(db: Records, caller: Caller | undefined): Promise<string[]> {
  const pairs = await pairsFor(db, caller)
  let query = db.selectFrom('inlay_pair_counts').select('source')
  if (pairs) query = query.where(pairs.holds('pair_id'))
  const rows = await query
    .groupBy('source')
    .having((of) => of(of.fn.sum<number>('amount'), '>', 0))
    .orderBy('source')
    .execute()
  return rows.map(({ source }) => source)
}
