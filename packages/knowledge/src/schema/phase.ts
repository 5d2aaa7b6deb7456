import { sql, type RawBuilder } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'

/**
 * A phase as a literal of the query: a database uses an index over the documents of one phase only when the query says
 * which, not when a parameter does.
 */
export function phase(name: DocumentPhase): RawBuilder<DocumentPhase> {
  return sql.lit(name)
}
