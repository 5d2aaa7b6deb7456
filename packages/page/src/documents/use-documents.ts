import type { DocumentOrder, DocumentStateName } from '@inlay/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { typingMs } from '../controls/use-loaded.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { announceChange, onAnyChange } from '../service/tabs.ts'
import { countStates, isOnTheWay, totalOf, type Counts } from '../service/counts.ts'
import {
  everything,
  isNarrow,
  pageReader,
  readNextPage,
  rereadPages,
  type DocumentFilter,
  type RowPage,
  type RowRange,
} from './row-pages.ts'

/** How often rows that are seen are read while documents are on their way, and otherwise; milliseconds. */
const busyMs = 700
const idleMs = 10_000
/** How long after a failure it is tried again, in milliseconds. */
const retryMs = 2_000
/** Rows behind those that are seen before more are read. */
const rowsAhead = 40

interface WatchOptions {
  readonly service: Service
  readonly onPages: (pages: readonly RowPage[], filter: DocumentFilter) => void
  readonly onCounts: (counts: Counts | undefined) => void
  readonly onFailure: (failure: Failure) => void
}

interface Wanted {
  readonly filter: DocumentFilter
  readonly order: DocumentOrder
}

/** Reads rows: often while documents are on their way, seldom otherwise, never in the background. */
class ListWatch {
  readonly #options: WatchOptions
  #wanted: Wanted
  #pages: readonly RowPage[] | undefined
  /** Whether the pages belong to the previous filter or order. */
  #isStale = false
  #seen: RowRange = { first: 0, last: 0 }
  #reading: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #unsubscribe: () => void
  #hasEnded = false

  constructor(options: WatchOptions, wanted: Wanted) {
    this.#options = options
    this.#wanted = wanted
    document.addEventListener('visibilitychange', this.#onVisible)
    this.#unsubscribe = onAnyChange(({ kind }) => kind === 'documents' && this.refresh())
    this.refresh()
  }

  /** Reloads all rows up to the visible ones, since any of them may have changed. */
  refresh(): void {
    void this.#read('all')
  }

  want(wanted: Wanted): void {
    this.#wanted = wanted
    this.#isStale = true
    this.#seen = { first: 0, last: 0 }
    this.refresh()
  }

  see(range: RowRange): void {
    this.#seen = range
    this.#readAhead()
  }

  end(): void {
    this.#hasEnded = true
    this.#reading?.abort()
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#onVisible)
    this.#unsubscribe()
  }

  readonly #onVisible = (): void => {
    if (!document.hidden) this.refresh()
  }

  #readAhead(): void {
    const count = this.#pages?.reduce((sum, { rows }) => sum + rows.length, 0) ?? 0
    const hasMore = (this.#pages?.at(-1)?.next ?? null) !== null
    if (hasMore && !this.#isStale && this.#reading === undefined && this.#seen.last >= count - rowsAhead)
      void this.#read('more')
  }

  async #read(which: 'all' | 'seen' | 'more'): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#hasEnded) return
    this.#reading?.abort()
    const reading = new AbortController()
    this.#reading = reading
    let isBusy = false
    let failure: Failure | undefined
    try {
      if (!document.hidden || this.#pages === undefined) {
        const { service, onPages, onCounts } = this.#options
        const read = pageReader(service, this.#wanted, reading.signal)
        const known = this.#pages ?? []
        const range = which === 'all' ? { ...this.#seen, first: 0 } : this.#seen
        const pages =
          which === 'more'
            ? await readNextPage(known, read)
            : await rereadPages(which === 'all' ? [] : known, range, read)
        const counts = await this.#count(pages, reading.signal)
        isBusy = isOnTheWay(counts ?? countStates(statesIn(pages)))
        this.#pages = pages
        this.#isStale = false
        onPages(pages, this.#wanted.filter)
        // Those of the whole list stay while it is narrowed.
        if (counts !== undefined || !isNarrow(this.#wanted.filter)) onCounts(counts)
      }
    } catch (error) {
      if (reading.signal.aborted) return
      failure = toFailure(error)
      this.#options.onFailure(failure)
    }
    if (reading.signal.aborted) return
    this.#reading = undefined
    // A refused key stays refused, so the next request waits until the user returns or changes the list.
    if (failure?.retryable === false) return
    const pauseMs = failure !== undefined ? retryMs : isBusy ? busyMs : idleMs
    this.#timer = setTimeout(() => void this.#read(failure !== undefined ? which : 'seen'), pauseMs)
    if (failure === undefined) this.#readAhead()
  }

  /** A whole list is counted here, the others by the service; undefined where the key lacks the permission for that. */
  async #count(pages: readonly RowPage[], signal: AbortSignal): Promise<Counts | undefined> {
    const isWhole = !isNarrow(this.#wanted.filter) && pages.length === 1 && pages[0]?.next === null
    return isWhole ? countStates(statesIn(pages)) : ((await this.#options.service.counts(signal)) ?? undefined)
  }
}

const statesIn = (pages: readonly RowPage[]): readonly DocumentStateName[] =>
  pages.flatMap(({ rows }) => rows.map(({ state }) => state))

/** Filter and order of the view when it was left. */
let lastWanted: Wanted = { filter: everything, order: 'newest' }

export type Documents = ReturnType<typeof useDocuments>

export function useDocuments(
  service: Service,
  counts: Counts | undefined,
  onCounts: (counts: Counts | undefined) => void,
) {
  const [pages, setPages] = useState<readonly RowPage[] | undefined>(undefined)
  const [wanted, setWanted] = useState(lastWanted)
  const [rowFilter, setRowFilter] = useState(lastWanted.filter)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [changeFailure, setChangeFailure] = useState<Failure | null>(null)
  const watch = useRef<ListWatch | undefined>(undefined)
  useEffect(() => {
    const onPages: WatchOptions['onPages'] = (read, readWith) => {
      setPages(read)
      setRowFilter(readWith)
      setFailure(null)
    }
    watch.current = new ListWatch({ service, onPages, onCounts, onFailure: setFailure }, wanted)
    return () => watch.current?.end()
  }, [service])
  lastWanted = wanted
  const isFirst = useRef(true)
  const { filter, order } = wanted
  const words = useRef(filter.words)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return undefined
    }
    const isTyping = words.current !== filter.words
    words.current = filter.words
    const timer = setTimeout(() => watch.current?.want(wanted), isTyping ? typingMs : 0)
    return () => clearTimeout(timer)
  }, [wanted])

  const change = useCallback(async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } finally {
      // A failed change may have been done in part. This also reloads the rows.
      announceChange({ kind: 'documents' })
    }
  }, [])
  const changeOrTell = useCallback(async <Result>(work: Promise<Result>): Promise<Result> => {
    setChangeFailure(null)
    try {
      return await change(work)
    } catch (error) {
      setChangeFailure(toFailure(error))
      throw error
    }
  }, [])
  const closeChangeFailure = useCallback(() => setChangeFailure(null), [])
  const see = useCallback((range: RowRange) => watch.current?.see(range), [])
  const rows = useMemo(() => pages?.flatMap((page) => page.rows), [pages])
  const hasMore = (pages?.at(-1)?.next ?? null) !== null
  return {
    /** Undefined until they were read for the first time. */
    rows,
    hasMore,
    /** How many the filter finds; null where nobody counted them yet. */
    matchCount: rows === undefined ? null : hasMore ? countMatches(filter, counts) : rows.length,
    filter,
    narrow: (part: Partial<DocumentFilter>) =>
      setWanted((known) => ({ ...known, filter: { ...known.filter, ...part } })),
    order,
    sort: (next: DocumentOrder) => setWanted((known) => ({ ...known, order: next })),
    /** Tells which rows are seen: they are kept up to date. */
    see,
    /** The filter that the rows were read with: that of before until those of another are read. */
    rowFilter,
    /** Why the list is not up to date. */
    failure,
    /** Runs a change, then reloads the documents. The caller shows an error. */
    change,
    /** Like `change`, but shows a failure above the list until it is dismissed or the next change begins. */
    changeOrTell,
    changeFailure,
    closeChangeFailure,
    service,
  }
}

/** The counts of states tell how many there are where nothing else is filtered. */
function countMatches(filter: DocumentFilter, counts: Counts | undefined): number | null {
  if (counts === undefined || isNarrow({ ...filter, state: null })) return null
  return filter.state === null ? totalOf(counts) : counts[filter.state]
}
