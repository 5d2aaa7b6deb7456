import type { DocumentStateName } from '@inlay/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import type { DocumentCounts, ListedDocument, Service } from '../service/service.ts'
import { announceChange, onChangeElsewhere } from '../service/tabs.ts'
import { exactCounts, type Counts } from './counts.ts'
import { createListReader, everything, firstRows, type DocumentFilter, type Listing } from './list-reader.ts'

/** How often the list is read while documents are on their way, and otherwise; milliseconds. */
const busyMs = 700
const idleMs = 10_000
/** How long a person may go on typing before the search begins; milliseconds. */
const typingMs = 250

/** The documents of the service, the newest first, kept up to date. */
export interface DocumentList {
  /** The newest of all states; undefined until they were read for the first time. */
  readonly documents: readonly ListedDocument[] | undefined
  /** Those that the filter lets through. */
  readonly shown: readonly ListedDocument[]
  /** Whether the service has more of them. */
  readonly hasMore: boolean
  /** Undefined until they were read for the first time. */
  readonly counts: Counts | undefined
  readonly filter: DocumentFilter
  readonly choose: (state: DocumentStateName | null) => void
  readonly narrow: (part: Partial<DocumentFilter>) => void
  readonly search: (words: string) => void
  readonly showMore: () => void
  /** Why the list is not up to date, or why the last change failed. */
  readonly failure: Failure | null
  /** Does something that changes the documents, then reads them again. */
  readonly change: <Result>(work: Promise<Result>) => Promise<Result>
  readonly service: Service
}

/** What reads the list, and who gets what it reads. */
interface ListWatch {
  readonly reader: ReturnType<typeof createListReader>
  /** What to read now; null: the counts alone, since no list is shown. */
  readonly wanted: () => Parameters<ReturnType<typeof createListReader>['read']>[0] | null
  readonly onListing: (listing: Listing) => void
  readonly onCounts: (counts: Counts) => void
  readonly onFailure: (failure: Failure) => void
}

/**
 * Reads the list again and again: often while documents are on their way, seldom otherwise, never in the background.
 * @returns reads it at once, and ends the reading
 */
function watchList({ reader, wanted, onListing, onCounts, onFailure }: ListWatch): {
  refresh: () => void
  end: () => void
} {
  let timer: ReturnType<typeof setTimeout> | undefined
  let round = 0
  const leave = new AbortController()
  const read = async (): Promise<void> => {
    const mine = ++round
    let isBusy = false
    try {
      if (!document.hidden) {
        const list = wanted()
        const next = list === null ? null : await reader.read(list, leave.signal)
        const counts = next?.counts ?? (await reader.readCounts(leave.signal))
        // A slower answer to an older choice.
        if (mine !== round) return
        isBusy = counts !== null && isOnTheWay(counts)
        if (next !== null) onListing(next)
        if (counts !== null) onCounts(counts)
      }
    } catch (error) {
      if (leave.signal.aborted || mine !== round) return
      onFailure(toFailure(error))
    }
    // Without a list to look at, only what is on the way is worth asking for.
    if (!leave.signal.aborted && (isBusy || wanted() !== null)) timer = setTimeout(read, isBusy ? busyMs : idleMs)
  }
  const refresh = (): void => {
    clearTimeout(timer)
    void read()
  }
  const onVisible = (): void => {
    if (!document.hidden) refresh()
  }
  document.addEventListener('visibilitychange', onVisible)
  const unsubscribe = onChangeElsewhere(({ kind }) => kind === 'documents' && refresh())
  const end = (): void => {
    leave.abort()
    unsubscribe()
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', onVisible)
  }
  return { refresh, end }
}

const isOnTheWay = ({ byState: { pending, indexing } }: Counts): boolean => pending.number + indexing.number > 0

/**
 * The documents of a service, kept up to date while the page is looked at.
 * @param firstCounts what the service counted when the page was opened; null where the key may not ask
 * @param isShown whether the list is looked at; without it only counts are read, and only while documents come in
 */
export function useDocumentList(service: Service, firstCounts: DocumentCounts | null, isShown: boolean): DocumentList {
  const [listing, setListing] = useState<Listing | undefined>(undefined)
  const [counts, setCounts] = useState(firstCounts === null ? undefined : exactCounts(firstCounts))
  const [filter, setFilter] = useState<DocumentFilter>(everything)
  const [rows, setRows] = useState(firstRows)
  const [failure, setFailure] = useState<Failure | null>(null)
  const refresh = useRef<() => void>(() => {})
  const reader = useMemo(() => createListReader(service), [service])
  const wanted = useRef<{ filter: DocumentFilter; rows: number } | null>(null)
  wanted.current = isShown ? { filter, rows } : null

  useEffect(() => {
    const onListing = (next: Listing): void => {
      setListing(next)
      setFailure(null)
    }
    const watch = watchList({
      reader,
      wanted: () => wanted.current,
      onListing,
      onCounts: setCounts,
      onFailure: setFailure,
    })
    refresh.current = watch.refresh
    return watch.end
  }, [reader])
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) return undefined
    const timer = setTimeout(() => refresh.current(), typingMs)
    return () => clearTimeout(timer)
  }, [filter.words])
  useEffect(() => {
    // What the page was opened with is as good as a look at the counts.
    if (!isFirst.current || isShown || (counts !== undefined && isOnTheWay(counts))) refresh.current()
    isFirst.current = false
  }, [filter.state, filter.set, filter.tag, rows, isShown])

  const change = useCallback(async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      const result = await work
      setFailure(null)
      announceChange({ kind: 'documents' })
      return result
    } catch (error) {
      setFailure(toFailure(error))
      throw error
    } finally {
      refresh.current()
    }
  }, [])
  const narrow = (part: Partial<DocumentFilter>): void => {
    setFilter((known) => ({ ...known, ...part }))
    setRows(firstRows)
  }
  return {
    documents: listing?.documents,
    shown: listing?.shown ?? [],
    hasMore: listing?.hasMore === true,
    counts,
    filter,
    choose: (state) => narrow({ state }),
    narrow,
    search: (words) => narrow({ words }),
    showMore: () => setRows((known) => known + firstRows),
    failure,
    change,
    service,
  }
}
