import type { Kysely } from 'kysely'
import { InlayError } from '@inlay/protocol'

/** Brings the tables of documents up to date; safe to call at every start, also from several processes. */
// oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
export async function migrateKnowledge(db: Kysely<any>): Promise<void> {
  void db
  throw new InlayError('NOT_IMPLEMENTED')
}
