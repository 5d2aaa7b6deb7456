import { InlayError } from '@inlay/protocol'
import type { Services } from '@inlay/agent'
import type { ConversationDatabase } from '../tables/database.ts'
import { toListing } from './listing.ts'
import { ownSession } from './session-access.ts'
import type { Sessions } from './stored-session.ts'

/** With more, pinning has no use. Restoring a pinned session may exceed it; the list still contains all. */
const maxPinned = 100

/** Creates the part of sessions that pins them. */
export function createPins({
  db,
  now,
}: Pick<Services, 'now'> & { readonly db: ConversationDatabase }): Pick<Sessions, 'setPinned' | 'listPinned'> {
  const listPinned: Sessions['listPinned'] = async (caller) => {
    const rows = await db
      .selectFrom('inlay_chat_sessions')
      .selectAll()
      .where('owner_id', '=', caller.id)
      .where('pinned_at', 'is not', null)
      .where('deleted_at', 'is', null)
      .orderBy('pinned_at', 'desc')
      .orderBy('id')
      .execute()
    return rows.map(toListing)
  }
  return {
    listPinned,
    setPinned: async (id, isPinned, caller) => {
      const { pinned_at: pinnedAt } = await ownSession(db, id, caller)
      // Pinned again, it keeps its place.
      if (isPinned === (pinnedAt !== null)) return
      if (isPinned && (await listPinned(caller)).length >= maxPinned) {
        throw new InlayError('INVALID_INPUT', {
          message: `At most ${maxPinned} chats can be pinned: unpin one of them first.`,
        })
      }
      await db
        .updateTable('inlay_chat_sessions')
        .set({ pinned_at: isPinned ? now() : null })
        .where('id', '=', id)
        .execute()
    },
  }
}
