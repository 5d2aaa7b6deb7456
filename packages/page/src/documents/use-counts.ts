import { useEffect, useState } from 'preact/hooks'
import type { Service } from '../service/service.ts'
import { onAnyChange } from '../service/tabs.ts'
import { isOnTheWay, type Counts } from '../service/counts.ts'

/** How often documents are counted while some are on their way, in milliseconds. */
const busyMs = 700

/**
 * How many documents there are, counted again while some are on their way and the page is looked at.
 * @param first what the service counted when the page was opened; null if the key lacks the permission
 * @param isListed whether the list is shown, which tells its counts itself
 */
export function useCounts(
  service: Pick<Service, 'counts'>,
  first: Counts | null,
  isListed: boolean,
): readonly [counts: Counts | undefined, setCounts: (counts: Counts | undefined) => void] {
  const [counts, setCounts] = useState(first ?? undefined)
  const isBusy = counts !== undefined && isOnTheWay(counts)
  useEffect(() => {
    if (isListed) return undefined
    const leave = new AbortController()
    const count = async (): Promise<void> => {
      if (document.hidden) return
      const known = await service.counts(leave.signal).catch(() => null)
      if (known !== null && !leave.signal.aborted) setCounts(known)
    }
    const timer = isBusy ? setInterval(() => void count(), busyMs) : undefined
    const unsubscribe = onAnyChange(({ kind }) => {
      if (kind === 'documents') void count()
    })
    return () => {
      leave.abort()
      clearInterval(timer)
      unsubscribe()
    }
  }, [service, isListed, isBusy])
  return [counts, setCounts]
}
