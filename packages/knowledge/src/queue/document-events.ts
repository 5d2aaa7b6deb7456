import type { RecordEvents } from '@inlay/records'
import { privateFilesPair, readMemberships } from '../access-and-filters/permissions.ts'
import { idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

/** Records an event for each document, in the transaction that ends its indexing; none for files of a single chat. */
export async function recordDocumentEvents(
  transaction: Records,
  type: 'document.indexed' | 'document.failed',
  documents: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[],
  recordEvents: RecordEvents | undefined,
): Promise<void> {
  if (!recordEvents || documents.length === 0) return
  const pairs = await readMemberships(transaction, idsOf(documents))
  const events = documents
    .filter(({ id }) => pairs.get(id)?.some((pairId) => pairId !== privateFilesPair))
    .map(({ id, ...data }) => ({ type, data: { document_id: id, ...data } }))
  if (events.length > 0) await recordEvents(transaction, events)
}
