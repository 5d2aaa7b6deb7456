import { dialectOf } from '@inlay/records'
import { sql } from 'kysely'
import type { Records } from './tables.ts'

/**
 * Keeps other processes from changing documents until the transaction ends: for steps that copy rows and then add the
 * triggers that keep the copy up to date. SQLite has one writer at a time anyway.
 */
export async function holdDocuments(db: Records): Promise<void> {
  if (dialectOf(db) === 'sqlite') return
  await sql`lock table inlay_documents, inlay_document_pairs in share row exclusive mode`.execute(db)
}
