import type { ActionTurn, ModelQuestion } from '../../contracts/action.ts'

type Ask = NonNullable<ActionTurn['ask']>

/** Ways to ask that once did not answer in time; each belongs to one answer. */
const slow = new WeakSet<Ask>()

/**
 * Puts a question that a search can do without. A model that does not answer in time is not asked again in the same
 * answer: it would hold up every search of it.
 * @returns undefined when there is no model to ask, or it fails or is slow; rejects only when the run was stopped
 */
export async function askInTime(
  { ask, signal }: Pick<ActionTurn, 'ask' | 'signal'>,
  question: Omit<ModelQuestion, 'signal'>,
  limitMs: number,
): Promise<string | undefined> {
  if (!ask || slow.has(ask)) return undefined
  const limit = AbortSignal.timeout(limitMs)
  try {
    return await ask({ ...question, signal: limit })
  } catch {
    signal.throwIfAborted()
    if (limit.aborted) slow.add(ask)
    return undefined
  }
}
