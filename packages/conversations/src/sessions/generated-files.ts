import { isAmong } from '@inlay/records'
import type { PacketBody } from '@inlay/protocol'
import type { ConversationDatabase } from '../tables/database.ts'

/** Calls that are looked through: a conversation makes few files. */
const maxCalls = 200

/** Ids of the files that actions made for some messages, the newest first. @param limit most calls; null for all */
export async function readGeneratedFileIds(
  records: ConversationDatabase,
  messageIds: readonly number[],
  limit: number | null = maxCalls,
): Promise<string[]> {
  if (messageIds.length === 0) return []
  const rows = await records
    .selectFrom('inlay_chat_tool_calls')
    .select(['images', 'packets'])
    .where(isAmong(records, 'message_id', messageIds))
    // Most calls make none, and what they found is long.
    .where((of) => of.or([of('images', 'is not', null), of('packets', 'like', '%"file_ids":["%')]))
    .orderBy('id', 'desc')
    .$if(limit !== null, (query) => query.limit(limit ?? 0))
    .execute()
  return rows.flatMap(({ images, packets }) => [...idsOfImages(images), ...idsOfPackets(packets)])
}

function idsOfImages(json: string | null): string[] {
  if (json === null) return []
  // Written by us from what the action gave back.
  return (JSON.parse(json) as { readonly file_id: string }[]).map(({ file_id: id }) => id)
}

function idsOfPackets(json: string | null): readonly string[] {
  if (json === null) return []
  // Written by us from packets that were sent.
  const packets = JSON.parse(json) as PacketBody[]
  return packets.flatMap((packet) => ('file_ids' in packet ? (packet.file_ids ?? []) : []))
}
