import { sql, type RawBuilder } from 'kysely'
import type { DocumentQuery } from '../contracts/documents.ts'

/** An order of a listing, for which there is an index. */
export interface ListOrder {
  readonly key: RawBuilder<string | number>
  readonly isNumber: boolean
  readonly isDescending: boolean
  /** Whether each document has a key of its own; otherwise the revision orders those with the same key. */
  readonly isUnique: boolean
}

/** SQL expression for the start of a title in lower case, as in the index: Postgres limits the size of index rows. */
const titleStart = sql<string>`lower(substr(semantic_identifier, 1, ${sql.lit(200)}))`

const byId = { key: sql<string>`id`, isNumber: false, isUnique: true }
const byTime = { key: sql<number>`revision`, isNumber: true, isUnique: true }
const byTitle = { key: titleStart, isNumber: false, isUnique: false }
const bySize = { key: sql<number>`content_bytes`, isNumber: true, isUnique: false }

export const listOrders: Readonly<Record<DocumentQuery['order'] & {}, ListOrder>> = {
  id: { ...byId, isDescending: false },
  id_desc: { ...byId, isDescending: true },
  newest: { ...byTime, isDescending: true },
  oldest: { ...byTime, isDescending: false },
  title: { ...byTitle, isDescending: false },
  title_desc: { ...byTitle, isDescending: true },
  largest: { ...bySize, isDescending: true },
  smallest: { ...bySize, isDescending: false },
}
