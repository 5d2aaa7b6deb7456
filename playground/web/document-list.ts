import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { toFailure } from './failure.ts'
import type { ListedDocument, Service, TextDocument } from './service.ts'
import type { Failure } from './turn.ts'

/** How often the list is read while documents are on their way, and otherwise; milliseconds. */
const busyMs = 700
const idleMs = 10_000

/** The documents of the service, kept up to date. */
export interface DocumentList {
  /** Undefined until they were read for the first time. */
  readonly documents: readonly ListedDocument[] | undefined
  /** There are more than the list holds. */
  readonly more: boolean
  /** Why the list is not up to date, or why the last change failed. */
  readonly failure: Failure | null
  readonly add: (document: TextDocument) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

/** Reads the list again and again: often while something is pending or indexing, seldom otherwise, never in the background. */
export function useDocumentList(service: Service): DocumentList {
  const [listed, setListed] = useState<{ documents: readonly ListedDocument[]; more: boolean } | undefined>(undefined)
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
          const page = await service.documents(leave.signal)
          isBusy = page.documents.some(({ state }) => state === 'pending' || state === 'indexing')
          const documents = await withReasons(page, service, reasons.current)
          setListed({ documents, more: page.more })
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

  return {
    documents: listed?.documents,
    more: listed?.more ?? false,
    failure,
    add: (document) => change(service.ingest(document)),
    remove: (id) => change(service.remove(id)),
  }
}

async function withReasons(
  page: Awaited<ReturnType<Service['documents']>>,
  service: Service,
  known: Map<string, string | null>,
): Promise<readonly ListedDocument[]> {
  const failedIds = page.documents.filter(({ state }) => state === 'failed').map((document) => document.document_id)
  for (const id of known.keys()) if (!failedIds.includes(id)) known.delete(id)
  // A failed document stays as it is until it is sent again, so its reason is asked for once.
  const unknown = failedIds.filter((id) => !known.has(id)).slice(0, 20)
  await Promise.all(unknown.map(async (id) => known.set(id, await service.failureReason(id).catch(() => null))))
  return page.documents.map((document) => ({
    id: document.document_id,
    title: document.semantic_id === '' ? document.document_id : document.semantic_id,
    link: document.link ?? '',
    state: document.state,
    reason: known.get(document.document_id) ?? null,
  }))
}
