import type { DocumentStateName } from '@inlay/protocol'
import type { DocumentCounts } from '../service/service.ts'
import { formatCompact, formatNumber } from '../texts/locale.ts'

/** A number of documents, exact or the least there are. */
export interface Count {
  readonly number: number
  readonly isLeast: boolean
}

/** How many documents there are, of each state and of all. */
export interface Counts {
  readonly total: Count
  readonly byState: Readonly<Record<DocumentStateName, Count>>
}

const states: readonly DocumentStateName[] = ['indexed', 'indexing', 'pending', 'failed']

/**
 * Counts documents.
 * @param listed states of those that were listed
 * @param more whether there are others
 * @param known what the service counted itself, where it tells; binds when there are others
 */
export function countDocuments(
  listed: readonly DocumentStateName[],
  more: boolean,
  known: DocumentCounts | null,
): Counts {
  const count = (state: DocumentStateName): Count => {
    if (more && known !== null) return { number: known[state], isLeast: false }
    return { number: listed.filter((counted) => counted === state).length, isLeast: more }
  }
  const [indexed, indexing, pending, failed] = states.map(count)
  // One count per state, in this order.
  const byState = { indexed, indexing, pending, failed } as Counts['byState']
  const number = Object.values(byState).reduce((sum, counted) => sum + counted.number, 0)
  return { total: { number, isLeast: more && known === null }, byState }
}

/** Counts that the service made itself. */
export function exactCounts(known: DocumentCounts): Counts {
  return countDocuments([], true, known)
}

/** Whether documents are on their way into the index. */
export function isOnTheWay({ byState: { pending, indexing } }: Counts): boolean {
  return pending.number + indexing.number > 0
}

/** A count where there is little room: `980`, `12.4K`, `1K+`. */
export function shortCount({ number, isLeast }: Count): string {
  return `${formatCompact(number)}${isLeast ? '+' : ''}`
}

/** A count in full: `12,400`, `1,000+`. */
export function fullCount({ number, isLeast }: Count): string {
  return `${formatNumber(number)}${isLeast ? '+' : ''}`
}
