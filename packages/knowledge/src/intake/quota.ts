import { checkQuota } from '@inlay/protocol'
import { prepared } from '@inlay/records'
import { sql } from 'kysely'
import { addToCounter } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

/** Maximum amounts that are stored at a time, over all processes. */
export interface DocumentLimits {
  /** Documents, with uploaded files that are searchable. Default: no limit. */
  readonly maxDocuments?: number
  /** Characters of all documents together, with their metadata. Default: no limit. */
  readonly maxDocumentCharacters?: number
}

/** What is stored, in the order of the limits. */
type Stored = readonly [documents: number, characters: number]

/** What is stored while tasks are applied one after the other, and what may be. */
export interface Room extends DocumentLimits {
  stored: Stored
}

/** Adds to the counts, which exist once a limit was set; with the lock of `revision`. @returns the new counts */
export async function addStored(db: Records, [documents, characters]: Stored): Promise<Stored> {
  const rows = await addToBoth(db, { documents, characters })
  const countOf = (name: string): number => Number(rows.find((row) => row.name === name)?.value)
  return [countOf('documents'), countOf('characters')]
}

const addToBoth = prepared((db: Records, { documents, characters }: Record<'documents' | 'characters', number>) =>
  db
    .updateTable('inlay_counters')
    .set({ value: sql<number>`case name when 'documents' then value + ${documents} else value + ${characters} end` })
    .where('name', 'in', ['documents', 'characters'])
    .returning(['name', 'value']),
)

/** Counts anew, since a version without the counts may have been at work. */
export async function recount(db: Records): Promise<void> {
  await db.transaction().execute(async (records) => {
    // Nobody accepts or deletes documents from here on.
    await addToCounter(records, 'revision', 0)
    await sql`
      insert into inlay_counters (name, value) select 'documents', count(*) from inlay_documents
      union all select 'characters', coalesce(sum(content_bytes), 0) from inlay_documents where true
      on conflict (name) do update set value = excluded.value`.execute(records)
  })
}

export const hasLimits = (limits: DocumentLimits = {}): boolean =>
  (limits.maxDocuments ?? limits.maxDocumentCharacters) !== undefined

/** Takes room for what a task adds; less than before is always granted. @throws RATE_LIMITED if a limit is exceeded */
export function takeRoom(room: Room, [documents, characters]: Stored): void {
  const [used, length] = room.stored
  checkQuota('maxDocuments', { used, added: documents, max: room.maxDocuments, unit: 'documents' })
  const text = { used: length, added: characters, max: room.maxDocumentCharacters }
  checkQuota('maxDocumentCharacters', { ...text, unit: 'characters of documents' })
  room.stored = [used + documents, length + characters]
}
