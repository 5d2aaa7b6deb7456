import { isAmong } from '@inlay/records'
import type { BaseFilters, Tag, TimestampRange } from '@inlay/protocol'
import type { Caller } from '../contracts/pairs.ts'
import { toTag, type IndexFilter, type TimeRange } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import { forbidden, isUnrestricted, maySee, noGrants, readGrants, readPairs } from './permissions.ts'
import { idsOf } from '../schema/sql.ts'

/**
 * Converts the filters of a request and the access of the caller to filters of the index.
 * @throws INSUFFICIENT_PERMISSIONS for a document set that does not exist or that the caller may not see
 */
export async function resolveFilters(
  db: Records,
  filters: BaseFilters | null | undefined,
  caller: Caller | undefined,
): Promise<IndexFilter> {
  const { source_type: sources, document_set: sets, tags, time_cutoff: cutoff } = filters ?? {}
  const all = await readPairs(db)
  const visible = [...all.values()].filter((pair) => !pair.isRemoved && maySee(pair, caller)).map(({ id }) => id)
  const inSets = sets?.length ? await pairsOfSets(db, sets, caller) : undefined
  return {
    ...(inSets && { pairs: visible.filter((id) => inSets.has(id)) }),
    ...(!inSets && visible.length < all.size && { pairs: visible }),
    ...(sources?.length ? { sources } : {}),
    ...(tags?.length ? { tags: groupTags(tags) } : {}),
    ...(cutoff ? { updatedOrCreatedSince: Date.parse(cutoff) } : {}),
    ...(filters?.created_at_range && range('createdAt', filters.created_at_range)),
    ...(filters?.updated_at_range && range('ownUpdatedAt', filters.updated_at_range)),
  }
}

/** Pairs in any of the sets. */
async function pairsOfSets(db: Records, names: readonly string[], caller: Caller | undefined): Promise<Set<number>> {
  const sets = await db
    .selectFrom('inlay_document_sets')
    .select(['id', 'name', 'is_public'])
    .where(isAmong(db, 'name', [...new Set(names)]))
    .execute()
  const ids = idsOf(sets)
  const grants = await readGrants(db, 'document_set', isUnrestricted(caller) ? [] : ids)
  const seen = new Set(
    sets
      .filter((set) =>
        maySee({ id: set.id, ...(grants.get(set.id) ?? noGrants), isPublic: set.is_public === 1 }, caller),
      )
      .map((set) => set.name),
  )
  // Callers who may not see a set must not learn that it exists.
  if (names.some((name) => !seen.has(name)))
    throw forbidden('A document set in the filters does not exist or the caller may not see it: remove it.')
  const pairs = await db
    .selectFrom('inlay_document_set_pairs')
    .select('pair_id')
    .where(isAmong(db, 'set_id', ids))
    .execute()
  return new Set(pairs.map((row) => row.pair_id))
}

/** Tags with the same key are alternatives; different keys must all match. */
function groupTags(tags: readonly Tag[]): string[][] {
  const byKey = Map.groupBy(tags, (tag) => tag.tag_key)
  return [...byKey.values()].map((group) => group.map((tag) => toTag(tag.tag_key, tag.tag_value)))
}

/** Bounds have whole seconds and are inclusive. */
function range(
  name: 'createdAt' | 'ownUpdatedAt',
  timestamps: TimestampRange,
): Partial<Record<typeof name, TimeRange>> {
  if (!timestamps.start && !timestamps.end) return {}
  return {
    [name]: {
      ...(timestamps.start ? { start: Math.floor(Date.parse(timestamps.start) / 1000) * 1000 } : {}),
      ...(timestamps.end ? { end: Math.floor(Date.parse(timestamps.end) / 1000) * 1000 + 999 } : {}),
    },
  }
}
