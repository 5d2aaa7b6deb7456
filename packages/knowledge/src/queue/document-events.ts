import type { OutgoingEvent, RecordEvents } from '@inlay/records'
import { privateFilesPair, readMemberships } from '../access-and-filters/permissions.ts'
import type { Records } from '../schema/tables.ts'

type DocumentEvent = OutgoingEvent & { readonly type: `document.${string}` }

/** Records events of documents, in the transaction that ends their indexing; none for files of a single chat. */
export async function recordDocumentEvents(
  transaction: Records,
  events: readonly DocumentEvent[],
  recordEvents: RecordEvents | undefined,
): Promise<void> {
  if (!recordEvents || events.length === 0) return
  const pairs = await readMemberships(
    transaction,
    events.map(({ data }) => data.document_id),
  )
  const ofAll = events.filter(({ data }) => pairs.get(data.document_id)?.some((pairId) => pairId !== privateFilesPair))
  if (ofAll.length > 0) await recordEvents(transaction, ofAll)
}
