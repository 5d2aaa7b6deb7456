import type { DocumentStateName } from '@inlay/protocol'

export type Counts = Readonly<Record<DocumentStateName, number>>

/** In the order in which they are shown. */
export const stateOrder: readonly DocumentStateName[] = ['indexed', 'indexing', 'pending', 'failed']

export function countStates(states: readonly DocumentStateName[]): Counts {
  const counts = { indexed: 0, indexing: 0, pending: 0, failed: 0 }
  for (const state of states) counts[state]++
  return counts
}

export const totalOf = ({ indexed, indexing, pending, failed }: Counts): number => indexed + indexing + pending + failed

export const isOnTheWay = ({ pending, indexing }: Counts): boolean => pending + indexing > 0
