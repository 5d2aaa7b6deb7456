import { emptyLog, isAmong } from '@inlay/records'
import { sql } from 'kysely'
import { pairsFor } from './permissions.ts'
import type { KnownTag, TagQuery } from '../contracts/documents.ts'
import type { Caller } from '../contracts/pairs.ts'
import { fromTag } from '../contracts/vector-index.ts'
import { addToCounter, batchesOf, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

export interface Labels {
  readonly source: string
  readonly pairIds: readonly number[]
  /** A tag in the form returned by `toTag`. */
  readonly tags: readonly string[]
  /** Ids of the files that the document uses. */
  readonly files: readonly string[]
}

/** Tags recorded per document, for lists to select from. Further ones can still be used as filters. */
const maxTags = 200
/** Characters of key and value together: databases limit the length of columns they sort by. */
const maxTagLength = 500

export async function listTags(db: Records, query: TagQuery, caller: Caller | undefined): Promise<KnownTag[]> {
  const pairs = await pairsFor(db, caller)
  const limit = Math.min(Math.max(Math.trunc(query.limit ?? 50), 1), 1000)
  let tags = db
    .selectFrom('inlay_tags')
    .select(['tag_key as key', 'tag_value as value', 'source'])
    .where((of) => {
      const holders = of.selectFrom('inlay_document_tags').select('tag_id').whereRef('tag_id', '=', 'inlay_tags.id')
      return of.exists(pairs ? holders.where(pairs.holds('pair_id')) : holders)
    })
  const match = query.match?.trim().toLowerCase()
  // `key=value` is one longer. SQLite takes no pattern of more than 50,000 bytes.
  if (match && match.length > maxTagLength + 1) return []
  if (match) tags = tags.where(sql<boolean>`wording like ${`%${match.replaceAll(/[%_\\]/g, '\\$&')}%`} escape '\\'`)
  return tags.orderBy('tag_key').orderBy('tag_value').orderBy('source').limit(limit).execute()
}

/** Replaces the recorded tags of documents. Call within a transaction; unchanged records are not written. */
export async function recordTags(
  db: Records,
  documents: readonly (Omit<Labels, 'files'> & { readonly id: string })[],
): Promise<void> {
  const before = await readTags(db, idsOf(documents))
  const changed = documents
    .map((document) => ({ ...document, links: toLinks(document) }))
    .filter(({ id, links }) => !isSame(before.get(id), links))
  if (changed.length === 0) return
  const wanted = new Map(changed.flatMap(({ links }) => [...links.values()].map(({ tag }) => [nameOf(tag), tag])))
  // Adding tags and removing unused tags both take this lock, but never before the lock of a document: see
  // `forgetTags`.
  const last = await addToCounter(db, 'tag', wanted.size)
  const ids = await takeIds(db, wanted, last)
  const rows = changed.flatMap(({ id, links }) =>
    [...links.values()].map(({ tag, pairId }) => ({
      tag_id: ids.get(nameOf(tag))!,
      pair_id: pairId,
      document_id: id,
    })),
  )
  await forgetTags(
    db,
    idsOf(changed).filter((id) => before.has(id)),
  )
  for (const slice of batchesOf(rows)) await db.insertInto('inlay_document_tags').values(slice).execute()
}

/**
 * Deletes the links between documents and tags. The tags stay until {@link removeUnusedTags}: its lock, taken here,
 * would be held while ingestion waits for documents that others have locked.
 */
export async function forgetTags(db: Records, documentIds: readonly string[]): Promise<void> {
  await db
    .deleteFrom('inlay_document_tags')
    .where(isAmong(db, 'document_id', documentIds))
    .execute()
}

/** Deletes tags that no document has any more. Scans all tags. */
export async function removeUnusedTags(db: Records): Promise<void> {
  const { numDeletedRows } = await db.transaction().execute(async (transaction) => {
    await addToCounter(transaction, 'tag', 0)
    return transaction
      .deleteFrom('inlay_tags')
      .where((of) =>
        of.not(
          of.exists(of.selectFrom('inlay_document_tags').select('tag_id').whereRef('tag_id', '=', 'inlay_tags.id')),
        ),
      )
      .executeTakeFirst()
  })
  if (numDeletedRows > 0n) await emptyLog(db)
}

interface Link {
  readonly tag: KnownTag
  readonly pairId: number
}

const nameOf = ({ key, value, source }: KnownTag): string => JSON.stringify([key, value, source])
const linkName = (tag: KnownTag, pairId: number): string => `${pairId} ${nameOf(tag)}`

function toLinks({ source, tags, pairIds }: Omit<Labels, 'files'>): Map<string, Link> {
  const links = new Map<string, Link>()
  const listed = tags.slice(0, maxTags).filter((tag) => tag.length <= maxTagLength)
  for (const { key, value } of listed.map(fromTag))
    for (const pairId of pairIds)
      links.set(linkName({ key, value, source }, pairId), { tag: { key, value, source }, pairId })
  return links
}

function isSame(before: ReadonlySet<string> | undefined, links: ReadonlyMap<string, Link>): boolean {
  return (before?.size ?? 0) === links.size && [...links.keys()].every((name) => before?.has(name))
}

/** Names of the tag links by document, for documents that have any. */
async function readTags(db: Records, documentIds: readonly string[]): Promise<Map<string, Set<string>>> {
  const namesOf = new Map<string, Set<string>>()
  const rows = await db
    .selectFrom('inlay_document_tags as link')
    .innerJoin('inlay_tags as tag', 'tag.id', 'link.tag_id')
    .select(['document_id', 'pair_id', 'tag_key as key', 'tag_value as value', 'source'])
    .where(isAmong(db, 'document_id', documentIds))
    .execute()
  for (const { document_id, pair_id, ...tag } of rows) {
    const names = namesOf.get(document_id) ?? new Set()
    namesOf.set(document_id, names.add(linkName(tag, pair_id)))
  }
  return namesOf
}

/** Ids of tags by name; new tags get the ids up to `last`. */
async function takeIds(db: Records, wanted: ReadonlyMap<string, KnownTag>, last: number): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  for (const slice of batchesOf([...wanted.values()])) {
    const { rows } = await knownAmong(slice).execute(db)
    for (const { id, ...tag } of rows) ids.set(nameOf(tag), id)
  }
  let next = last
  const added = [...wanted].filter(([name]) => !ids.has(name))
  const rows = added.map(([name, { key, value, source }]) => {
    ids.set(name, next)
    return { id: next--, tag_key: key, tag_value: value, source, wording: `${key}=${value}`.toLowerCase() }
  })
  for (const slice of batchesOf(rows)) await db.insertInto('inlay_tags').values(slice).execute()
  return ids
}

const knownAmong = (tags: readonly KnownTag[]) => sql<KnownTag & { id: number }>`
  with wanted(tag_key, tag_value, source) as (values ${sql.join(
    tags.map(({ key, value, source }) => sql`(cast(${key} as text), cast(${value} as text), cast(${source} as text))`),
  )})
  select tag.id, tag.tag_key as key, tag.tag_value as value, tag.source from wanted
  join inlay_tags as tag
    on tag.tag_key = wanted.tag_key and tag.tag_value = wanted.tag_value and tag.source = wanted.source`
