import type { DocMinimalInfo, DocumentStateName } from '@inlay/protocol'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { countDocuments, type Counts } from './counts.ts'
import { toFailure } from '../service/failure.ts'
import type { ListedDocument, Service, TextDocument } from '../service/service.ts'
import type { Failure } from '../chat/turn.ts'

/** How often the list is read while documents are on their way, and otherwise; milliseconds. */
const busyMs = 700
const idleMs = 10_000

/** The documents of the service, kept up to date. */
export interface DocumentList {
  /** Undefined until they were read for the first time; a thousand at most. */
  readonly documents: readonly ListedDocument[] | undefined
  /** Those of the chosen state; a thousand at most. */
  readonly shown: readonly ListedDocument[]
  /** There are more in the chosen state than are shown. */
  readonly more: boolean
  /** Undefined until they were read for the first time. */
  readonly counts: Counts | undefined
  /** The state that is shown; null for all. */
  readonly only: DocumentStateName | null
  readonly choose: (state: DocumentStateName | null) => void
  /** Why the list is not up to date, or why the last change failed. */
  readonly failure: Failure | null
  readonly add: (document: TextDocument) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

/** Reads the list again and again: often while something is pending or indexing, seldom otherwise, never in the background. */
export function useDocumentList(service: Service): DocumentList {
  const [listed, setListed] = useState<Listed | undefined>(undefined)
  const [only, setOnly] = useState<DocumentStateName | null>(null)
  const chosen = useRef(only)
  const [failure, setFailure] = useState<Failure | null>(null)
  const reasons = useRef(new Map<string, string | null>())
  const refresh = useRef<() => void>(() => {})

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const leave = new AbortController()
    const read = async (): Promise<void> => {
      let isBusy = false
      try {
        if (!document.hidden) {
          const next = await readList(service, chosen.current, reasons.current, leave.signal)
          isBusy = next.counts.byState.pending.number + next.counts.byState.indexing.number > 0
          setListed(next)
          setFailure(null)
        }
      } catch (error) {
        if (leave.signal.aborted) return
        setFailure(toFailure(error))
      }
      if (!leave.signal.aborted) timer = setTimeout(read, isBusy ? busyMs : idleMs)
    }
    refresh.current = () => {
      clearTimeout(timer)
      void read()
    }
    const onVisible = (): void => {
      if (!document.hidden) refresh.current()
    }
    document.addEventListener('visibilitychange', onVisible)
    void read()
    return () => {
      leave.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [service])

  const change = useCallback(async (work: Promise<void>): Promise<void> => {
    try {
      await work
      setFailure(null)
      refresh.current()
    } catch (error) {
      setFailure(toFailure(error))
      throw error
    }
  }, [])

  const documents = listed?.documents
  return {
    documents,
    // Until those of a new choice were read, what is known of them.
    shown: (listed?.only === only ? listed.shown : documents?.filter(({ state }) => state === only)) ?? [],
    more: listed?.only === only && listed.more,
    counts: listed?.counts,
    only,
    choose: (state) => {
      chosen.current = state
      setOnly(state)
      refresh.current()
    },
    failure,
    add: (document) => change(service.ingest(document)),
    remove: (id) => change(service.remove(id)),
  }
}

/** What was read at once. */
interface Listed extends Pick<DocumentList, 'shown' | 'more' | 'only'> {
  readonly documents: readonly ListedDocument[]
  readonly counts: Counts
}

/** Reads the list; what it cannot hold is counted by the service, and a chosen state is read by itself. */
async function readList(
  service: Service,
  only: DocumentStateName | null,
  reasons: Map<string, string | null>,
  signal: AbortSignal,
): Promise<Listed> {
  const all = await service.documents({ signal })
  const known = all.more ? await service.counts(signal) : null
  const isApart = only !== null && all.more
  const own = isApart ? await service.documents({ state: only, signal }) : all
  const counts = countDocuments(
    all.documents.map(({ state }) => state),
    all.more,
    known,
  )
  await readReasons([...all.documents, ...(isApart ? own.documents : [])], service, reasons)
  const listed = (documents: readonly DocMinimalInfo[]): readonly ListedDocument[] =>
    documents.map((document) => toListed(document, reasons))
  const documents = listed(all.documents)
  const shown = isApart ? listed(own.documents) : documents.filter(({ state }) => only === null || state === only)
  return { documents, counts, only, shown, more: own.more }
}

/** A failed document stays as it is until it is sent again, so its reason is asked for once. */
async function readReasons(
  documents: readonly DocMinimalInfo[],
  service: Service,
  known: Map<string, string | null>,
): Promise<void> {
  const failedIds = new Set(documents.filter(({ state }) => state === 'failed').map((document) => document.document_id))
  for (const id of known.keys()) if (!failedIds.has(id)) known.delete(id)
  const unknown = [...failedIds].filter((id) => !known.has(id)).slice(0, 20)
  await Promise.all(unknown.map(async (id) => known.set(id, await service.failureReason(id).catch(() => null))))
}

function toListed(document: DocMinimalInfo, reasons: ReadonlyMap<string, string | null>): ListedDocument {
  return {
    id: document.document_id,
    title: document.semantic_id === '' ? document.document_id : document.semantic_id,
    link: document.link ?? '',
    state: document.state,
    reason: reasons.get(document.document_id) ?? null,
  }
}
