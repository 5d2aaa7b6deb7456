import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Confirm } from '../../controls/confirm.tsx'
import { FailureNote } from '../../controls/failure-note.tsx'
import { toFailure, type Failure } from '../../service/failure.ts'
import { documentTexts } from '../../texts/view-texts.ts'
import { texts } from '../../texts/texts.ts'
import { readAllFound, type NamedDocument } from '../row-pages.ts'
import type { Documents } from '../use-documents.ts'
import { actOnMany, type ManyProgress, type ManyReport } from './act-on-many.ts'
import type { RowSelection } from './select-rows.ts'
import { Button } from '../../controls/button.tsx'

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

interface Run {
  readonly progress: ManyProgress | null
  readonly report: ManyReport | null
}

/** Outside the component, so that documents are deleted on while another view is open. */
const run: Run & { acting?: AbortController } = { progress: null, report: null }
const runChanges = new EventTarget()

function setRun(part: Partial<Run>): void {
  Object.assign(run, part)
  runChanges.dispatchEvent(new Event('change'))
}

export function useMany({ service, filter, change }: Documents, { selected, select, clear }: RowSelection) {
  const [{ progress, report }, showRun] = useState({ ...run })
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
    if (run.progress !== null) return
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
  const start = (): void => {
    if (run.progress !== null) return
    endReading()
    const acting = new AbortController()
    run.acting = acting
    const wanted = [...selected.values()]
    const onProgress = (made: ManyProgress): void => setRun({ progress: made })
    onProgress({ done: 0, total: wanted.length })
    setRun({ report: null })
    const remove = ({ id }: NamedDocument): Promise<void> => service.remove(id)
    const work = actOnMany(wanted, remove, { signal: acting.signal, onProgress, wait }).then((made) => {
      setRun({ progress: null, report: made })
      const done = new Set(made.done)
      // Those that are left stay selected, so that it can be repeated.
      select(
        wanted.filter(({ id }) => done.has(id)),
        false,
      )
    })
    void change(work)
  }
  return {
    progress,
    report,
    failure,
    isSelecting,
    selectAll,
    start,
    /** Clears the selection, and ends the reading of all that are to be selected. */
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
  readonly many: ReturnType<typeof useMany>
}

export function ManyBar({ documents, selection, many }: BarProps) {
  const { selected } = selection
  const [isAsking, setIsAsking] = useState(false)
  const { progress, report, failure } = many
  useEffect(() => setIsAsking(false), [selected.size === 0])
  if (progress === null && report === null && failure === null && selected.size === 0) return null
  return (
    <section class="many-bar u-grid u-gap-6 u-full u-sticky u-round u-surface" aria-label={documentTexts.selection}>
      {failure !== null && <FailureNote failure={failure} />}
      {progress !== null && <Progress progress={progress} stop={many.stop} />}
      {progress === null && selected.size > 0 && (
        <div class="row u-wrap u-as-tall">
          {isAsking ? (
            <Confirm
              class="many-confirm u-center"
              question={documentTexts.askDeleteMany(selected.size)}
              keep={() => setIsAsking(false)}
              confirm={() => {
                setIsAsking(false)
                many.start()
              }}
            >
              <strong class="u-grow">{documentTexts.askDeleteMany(selected.size)}</strong>
            </Confirm>
          ) : (
            <Choices documents={documents} selection={selection} many={many} ask={() => setIsAsking(true)} />
          )}
        </div>
      )}
      <div role="status">{report !== null && <Report report={report} dismiss={many.dismiss} />}</div>
    </section>
  )
}

function Choices({ documents, selection: { selected }, many, ask }: BarProps & { ask: () => void }) {
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
      <Button kind="danger" class="u-at-end" onClick={ask}>
        {documentTexts.deleteMany(selected.size)}
      </Button>
    </>
  )
}

function Progress({ progress: { done, total }, stop }: { progress: ManyProgress; stop: () => void }) {
  return (
    <div class="row u-wrap u-as-tall">
      <label class="many-progress u-grid u-gap-4 u-grow u-small">
        <span>{documentTexts.deleting(done, total)}</span>
        <progress class="u-full" value={done} max={total} />
      </label>
      <Button onClick={stop}>{documentTexts.stop}</Button>
    </div>
  )
}

const maxTitles = 5

function Report({ report: { done, failed, left }, dismiss }: { report: ManyReport; dismiss: () => void }) {
  return (
    <div class="many-report u-grid u-gap-6 u-small u-anywhere u-scroll">
      <p>
        {documentTexts.deleted(done.length)} {left > 0 && documentTexts.left(left)}{' '}
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
