import { InlayError, type Principal } from '@inlay/protocol'
import { hasRowLocks } from '@inlay/records'
import { sql } from 'kysely'
import type { Services } from '@inlay/agent'
import type { ConversationDatabase } from '../tables/database.ts'
import { toListing } from './listing.ts'
import { ownSession } from './session-access.ts'
import type { Sessions } from './stored-session.ts'

/** With more, pinning has no use. Restoring a pinned session may exceed it; the list still contains all. */
const maxPinned = 100

export function createPins({
  db,
  now,
}: Pick<Services, 'now'> & { readonly db: ConversationDatabase }): Pick<Sessions, 'setPinned' | 'listPinned'> {
  return {
    listPinned: async (caller) => {
      const pinned = pinnedOf(db, caller).selectAll()
      return (await pinned.orderBy('pinned_at', 'desc').orderBy('id').execute()).map(toListing)
    },
    setPinned: async (id, isPinned, caller) => {
      await db.transaction().execute(async (records) => {
        // Requests of one caller take turns, or several would each see a place that is free. SQLite has one writer.
        if (hasRowLocks(records))
          await sql`select pg_advisory_xact_lock(hashtextextended(${`inlay pins ${caller.id}`}, 0))`.execute(records)
        const { pinned_at: pinnedAt } = await ownSession(records, id, caller)
        // Pinned again, it keeps its place.
        if (isPinned === (pinnedAt !== null)) return
        if (isPinned && (await pinnedOf(records, caller).select('id').execute()).length >= maxPinned) {
          throw new InlayError('INVALID_INPUT', {
            message: `At most ${maxPinned} chats can be pinned: unpin one of them first.`,
          })
        }
        await records
          .updateTable('inlay_chat_sessions')
          .set({ pinned_at: isPinned ? now() : null })
          .where('id', '=', id)
          .execute()
      })
    },
  }
}

const pinnedOf = (db: ConversationDatabase, caller: Principal) =>
  db
    .selectFrom('inlay_chat_sessions')
    .where('owner_id', '=', caller.id)
    .where('pinned_at', 'is not', null)
    .where('deleted_at', 'is', null)
