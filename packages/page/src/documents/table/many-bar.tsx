import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ConfirmButtons } from '../../controls/confirm-buttons.tsx'
import { FailureNote } from '../../controls/failure-note.tsx'
import { toFailure, type Failure } from '../../service/failure.ts'
import { documentTexts } from '../../texts/view-texts.ts'
import { texts } from '../../texts/texts.ts'
import { readAllFound, type NamedDocument } from '../row-pages.ts'
import type { Documents } from '../use-documents.ts'
import { actOnMany, type ManyProgress, type ManyReport } from './act-on-many.ts'
import type { RowSelection } from './select-rows.ts'
import { Button } from '../../controls/button.tsx'

type Kind = 'delete' | 'retry'

interface Running {
  readonly kind: Kind
  readonly progress: ManyProgress
}

/** A bulk action on the selected documents: its progress and its result. */
export interface Many {
  readonly running: Running | null
  readonly report: { readonly kind: Kind; readonly report: ManyReport } | null
  readonly failure: Failure | null
  readonly isSelecting: boolean
  readonly selectAll: () => void
  /** Clears the selection, and ends the reading of all that are to be selected. */
  readonly clear: () => void
  readonly start: (kind: Kind) => void
  readonly stop: () => void
  readonly dismiss: () => void
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** Outside the component, so that a bulk action continues while another view is open. */
const run: { running: Running | null; report: Many['report']; acting: AbortController | undefined } = {
  running: null,
  report: null,
  acting: undefined,
}
const runChanges = new EventTarget()

function setRun(part: Partial<Pick<typeof run, 'running' | 'report'>>): void {
  Object.assign(run, part)
  runChanges.dispatchEvent(new Event('change'))
}

export function useMany({ service, filter, change }: Documents, { selected, select, clear }: RowSelection): Many {
  const [{ running, report }, showRun] = useState({ ...run })
  const [failure, setFailure] = useState<Failure | null>(null)
  const [isSelecting, setIsSelecting] = useState(false)
  const reading = useRef<AbortController | undefined>(undefined)
  useEffect(() => {
    const show = (): void => showRun({ ...run })
    runChanges.addEventListener('change', show)
    show()
    return () => runChanges.removeEventListener('change', show)
  }, [])
  const endReading = useCallback((): void => {
    reading.current?.abort()
    reading.current = undefined
    setIsSelecting(false)
  }, [])
  // Documents of another filter would be selected unseen.
  useEffect(() => endReading, [filter])

  const selectAll = (): void => {
    if (run.running !== null) return
    endReading()
    const mine = new AbortController()
    reading.current = mine
    setIsSelecting(true)
    setFailure(null)
    readAllFound(service, filter, mine.signal)
      .then(
        (matches) => mine.signal.aborted || select(matches, true),
        (error: unknown) => mine.signal.aborted || setFailure(toFailure(error)),
      )
      .finally(() => reading.current === mine && endReading())
  }
  const start = (kind: Kind): void => {
    if (run.running !== null) return
    endReading()
    const acting = new AbortController()
    run.acting = acting
    const wanted = [...selected.values()].filter(({ state }) => kind === 'delete' || state === 'failed')
    setRun({ running: { kind, progress: { done: 0, total: wanted.length } }, report: null })
    const act = async ({ id }: NamedDocument): Promise<boolean> => {
      if (kind === 'retry') return (await service.requeue(id)) > 0
      await service.remove(id)
      return true
    }
    const onProgress = (progress: ManyProgress): void => setRun({ running: { kind, progress } })
    const work = actOnMany(wanted, act, { signal: acting.signal, onProgress, wait }).then((made) => {
      setRun({ running: null, report: { kind, report: made } })
      const done = new Set(made.done)
      // Failed documents stay selected, so that the action can be repeated.
      select(
        wanted.filter(({ id }) => done.has(id)),
        false,
      )
    })
    void change(work)
  }
  return {
    running,
    report,
    failure,
    isSelecting,
    selectAll,
    start,
    clear: () => {
      endReading()
      clear()
    },
    stop: () => run.acting?.abort(),
    dismiss: () => setRun({ report: null }),
  }
}

interface BarProps {
  readonly documents: Documents
  readonly selection: RowSelection
  readonly many: Many
}

/** Says how many documents are selected and what can be done to them. */
export function ManyBar({ documents, selection, many }: BarProps) {
  const { selected } = selection
  const [isAsking, setIsAsking] = useState(false)
  const { running, report, failure } = many
  useEffect(() => setIsAsking(false), [selected.size === 0])
  if (running === null && report === null && failure === null && selected.size === 0) return null
  return (
    <section class="many-bar u-grid u-gap-6 u-full u-sticky u-round u-surface" aria-label={documentTexts.selection}>
      {failure !== null && <FailureNote failure={failure} />}
      {running !== null && <Progress running={running} stop={many.stop} />}
      {running === null && selected.size > 0 && (
        <div class="row u-wrap u-as-tall">
          {isAsking ? (
            <DeleteAsked
              count={selected.size}
              go={() => {
                setIsAsking(false)
                many.start('delete')
              }}
              keep={() => setIsAsking(false)}
            />
          ) : (
            <Choices documents={documents} selection={selection} many={many} ask={() => setIsAsking(true)} />
          )}
        </div>
      )}
      <div role="status">{report !== null && <Report {...report} dismiss={many.dismiss} />}</div>
    </section>
  )
}

function Choices({ documents, selection: { selected }, many, ask }: BarProps & { ask: () => void }) {
  const failed = [...selected.values()].filter(({ state }) => state === 'failed').length
  const isAll = documents.matchCount !== null && selected.size >= documents.matchCount
  return (
    <>
      <strong class="count u-text" role="status">
        {documentTexts.selected(selected.size)}
      </strong>
      {!isAll && (
        <Button kind="text" disabled={many.isSelecting} onClick={many.selectAll}>
          {many.isSelecting
            ? documentTexts.selecting
            : documents.matchCount === null
              ? documentTexts.selectAllFound
              : documentTexts.selectFound(documents.matchCount)}
        </Button>
      )}
      <Button kind="text" onClick={many.clear}>
        {documentTexts.clearSelection}
      </Button>
      <span class="u-flex u-wrap u-gap-8 u-at-end">
        {failed > 0 && <Button onClick={() => many.start('retry')}>{documentTexts.retryMany(failed)}</Button>}
        <Button kind="danger" onClick={ask}>
          {documentTexts.deleteMany(selected.size)}
        </Button>
      </span>
    </>
  )
}

function DeleteAsked({ count, go, keep }: { count: number; go: () => void; keep: () => void }) {
  const question = documentTexts.askDeleteMany(count)
  return (
    <span
      class="confirm many-confirm u-row u-gap-6"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        keep()
      }}
    >
      <strong>{question}</strong>
      <span class="u-flex u-wrap u-gap-8 u-at-end">
        <ConfirmButtons confirm={go} keep={keep} />
      </span>
    </span>
  )
}

function Progress({ running: { kind, progress }, stop }: { running: Running; stop: () => void }) {
  const { done, total } = progress
  const words = kind === 'delete' ? documentTexts.deleting(done, total) : documentTexts.retrying(done, total)
  return (
    <div class="row u-wrap u-as-tall">
      <label class="many-progress u-grid u-gap-4 u-grow u-small">
        <span>{words}</span>
        <progress class="u-full" value={done} max={total} />
      </label>
      <Button onClick={stop}>{documentTexts.stop}</Button>
    </div>
  )
}

/** Maximum number of titles shown per reason. */
const maxTitles = 5

function Report({
  kind,
  report: { done, failed, left },
  dismiss,
}: {
  kind: Kind
  report: ManyReport
  dismiss: () => void
}) {
  return (
    <div class="many-report u-grid u-gap-6 u-small u-anywhere u-scroll">
      <p>
        {kind === 'delete' ? documentTexts.deleted(done.length) : documentTexts.retried(done.length)}{' '}
        {left > 0 && documentTexts.left(left)}{' '}
        <Button kind="text" onClick={dismiss}>
          {texts.frame.close}
        </Button>
      </p>
      {failed.map(({ reason, titles }) => (
        <div key={reason} class="failure-words">
          <p>{documentTexts.notDone(titles.length, reason)}</p>
          <p>
            {titles.slice(0, maxTitles).join(' · ')}
            {titles.length > maxTitles && ' …'}
          </p>
        </div>
      ))}
    </div>
  )
}
