import type { State } from '../versions.ts'

/** A post or a delete of one document as its client saw it. Times are of one clock; any unit. */
export interface Change {
  /** The document afterwards: the version posted, or null when deleted. */
  readonly state: State
  readonly began: number
  /** Infinity when no answer came: it may have happened, at any time since it began, or not. */
  readonly ended: number
  /** Whether the document existed before, as the answer reported. Undefined without an answer. */
  readonly existed: boolean | undefined
}

/**
 * Whether changes of one document can be put into one order that explains everything: each lies between its beginning
 * and its end, each answer fits what came before, and the last of them leaves the end that was seen. A search over all
 * orders, after Wing and Gong (1993), that visits no situation twice.
 * @param begin what the document was before the first change
 */
export function isLinearizable(changes: readonly Change[], end: State, prefix: State = null): boolean {
  const ordered = changes.toSorted((left, right) => left.began - right.began)
  const seen = new Set<string>()

  function explains(done: ReadonlySet<number>, state: State): boolean {
    const key = `${[...done].filter((at) => at >= firstOpen(done)).toSorted((a, b) => a - b)} ${firstOpen(done)} ${state}`
    if (seen.has(key)) return false
    seen.add(key)
    const open = ordered.map((change, at) => ({ change, at })).filter(({ at }) => !done.has(at))
    if (state === end && open.every(({ change }) => change.ended === Infinity)) return true
    const firstEnd = open.reduce((first, { change }) => Math.min(first, change.ended), Infinity)
    return open.some(
      ({ change, at }) =>
        change.began <= firstEnd && fits(change, state) && explains(new Set([...done, at]), change.state),
    )
  }

  /** All before it are done. */
  function firstOpen(done: ReadonlySet<number>): number {
    let at = 0
    while (done.has(at)) at++
    return at
  }

  return explains(new Set(), prefix)
}

function fits({ existed }: Change, state: State): boolean {
  return existed === undefined || existed === (state !== null)
}
