import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ConfirmButton } from '../../controls/confirm-button.tsx'
import { FailureNote } from '../../controls/failure-note.tsx'
import { toFailure, type Failure } from '../../service/failure.ts'
import { documentTexts } from '../../texts/document-texts.ts'
import { texts } from '../../texts/texts.ts'
import { readAllFound, type NamedDocument } from '../row-pages.ts'
import type { Documents } from '../use-documents.ts'
import { actOnMany, type ManyProgress, type ManyReport } from './act-on-many.ts'
import type { RowSelection } from './select-rows.ts'

type Kind = 'delete' | 'retry'

interface Running {
  readonly kind: Kind
  readonly progress: ManyProgress
}

/** What is done to the selected documents, how far it is, and what became of it. */
export interface Many {
  readonly running: Running | null
  readonly report: { readonly kind: Kind; readonly report: ManyReport } | null
  readonly failure: Failure | null
  readonly isSelecting: boolean
  readonly selectAll: () => void
  readonly start: (kind: Kind) => void
  readonly stop: () => void
  readonly dismiss: () => void
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function useMany({ service, filter, change }: Documents, { selected, select }: RowSelection): Many {
  const [running, setRunning] = useState<Running | null>(null)
  const [report, setReport] = useState<Many['report']>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [isSelecting, setIsSelecting] = useState(false)
  // What was begun goes on when another view is opened.
  const leave = useRef<AbortController | undefined>(undefined)

  const selectAll = (): void => {
    const reading = new AbortController()
    leave.current?.abort()
    leave.current = reading
    setIsSelecting(true)
    setFailure(null)
    readAllFound(service, filter, reading.signal)
      .then(
        (matches) => select(matches, true),
        (error: unknown) => reading.signal.aborted || setFailure(toFailure(error)),
      )
      .finally(() => setIsSelecting(false))
  }
  const start = (kind: Kind): void => {
    const acting = new AbortController()
    leave.current?.abort()
    leave.current = acting
    const wanted = [...selected.values()].filter(({ state }) => kind === 'delete' || state === 'failed')
    setReport(null)
    setRunning({ kind, progress: { done: 0, total: wanted.length } })
    const act = ({ id }: NamedDocument): Promise<unknown> =>
      kind === 'delete' ? service.remove(id) : service.requeue(id)
    const onProgress = (progress: ManyProgress): void => setRunning({ kind, progress })
    const work = actOnMany(wanted, act, { signal: acting.signal, onProgress, wait }).then((made) => {
      setRunning(null)
      setReport({ kind, report: made })
      const done = new Set(made.done)
      // Those that remain selected can be tried again.
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
    stop: () => leave.current?.abort(),
    dismiss: () => setReport(null),
  }
}

interface BarProps {
  readonly documents: Documents
  readonly selection: RowSelection
  readonly many: Many
}

/** Says how many documents are selected and what can be done to them. */
export function ManyBar({ documents, selection, many }: BarProps): JSX.Element | null {
  const { selected, clear } = selection
  const [isAsking, setIsAsking] = useState(false)
  const { running, report, failure, isSelecting } = many
  useEffect(() => setIsAsking(false), [selected.size === 0])
  if (running === null && report === null && failure === null && selected.size === 0) return null
  return (
    <section class="many-bar" aria-label={documentTexts.selection}>
      {failure !== null && <FailureNote failure={failure} />}
      {running !== null && <Progress running={running} stop={many.stop} />}
      {running === null && selected.size > 0 && (
        <div class="row">
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
            <Choices
              documents={documents}
              selection={selection}
              many={many}
              isSelecting={isSelecting}
              ask={() => setIsAsking(true)}
              clear={clear}
            />
          )}
        </div>
      )}
      <div role="status">{report !== null && <Report {...report} dismiss={many.dismiss} />}</div>
    </section>
  )
}

interface ChoicesProps extends BarProps {
  readonly isSelecting: boolean
  readonly ask: () => void
  readonly clear: () => void
}

function Choices({ documents, selection: { selected }, many, isSelecting, ask, clear }: ChoicesProps): JSX.Element {
  const failed = [...selected.values()].filter(({ state }) => state === 'failed').length
  const isAll = documents.matchCount !== null && selected.size >= documents.matchCount
  return (
    <>
      <strong class="count" role="status">
        {documentTexts.selected(selected.size)}
      </strong>
      {!isAll && (
        <button type="button" class="text-button" disabled={isSelecting} onClick={many.selectAll}>
          {isSelecting
            ? documentTexts.selecting
            : documents.matchCount === null
              ? documentTexts.selectAllFound
              : documentTexts.selectFound(documents.matchCount)}
        </button>
      )}
      <button type="button" class="text-button" onClick={clear}>
        {documentTexts.clearSelection}
      </button>
      <span class="many-actions">
        {failed > 0 && (
          <button type="button" class="quiet-button" onClick={() => many.start('retry')}>
            {documentTexts.retryMany(failed)}
          </button>
        )}
        <button type="button" class="danger-button" onClick={ask}>
          {documentTexts.deleteMany(selected.size)}
        </button>
      </span>
    </>
  )
}

function DeleteAsked({ count, go, keep }: { count: number; go: () => void; keep: () => void }): JSX.Element {
  const question = documentTexts.askDeleteMany(count)
  return (
    <span
      class="confirm many-confirm"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        keep()
      }}
    >
      <strong>{question}</strong>
      <span class="many-actions">
        <ConfirmButton confirm={go}>{texts.frame.delete}</ConfirmButton>
        <button type="button" class="quiet-button" onClick={keep}>
          {texts.frame.keep}
        </button>
      </span>
    </span>
  )
}

function Progress({ running: { kind, progress }, stop }: { running: Running; stop: () => void }): JSX.Element {
  const { done, total } = progress
  const words = kind === 'delete' ? documentTexts.deleting(done, total) : documentTexts.retrying(done, total)
  return (
    <div class="row">
      <label class="many-progress">
        <span>{words}</span>
        <progress value={done} max={total} />
      </label>
      <button type="button" class="quiet-button" onClick={stop}>
        {documentTexts.stop}
      </button>
    </div>
  )
}

/** Titles that are named of those with the same reason. */
const maxTitles = 5

function Report({
  kind,
  report: { done, failed, left },
  dismiss,
}: {
  kind: Kind
  report: ManyReport
  dismiss: () => void
}): JSX.Element {
  return (
    <div class="many-report">
      <p>
        {kind === 'delete' ? documentTexts.deleted(done.length) : documentTexts.retried(done.length)}{' '}
        {left > 0 && documentTexts.left(left)}{' '}
        <button type="button" class="text-button" onClick={dismiss}>
          {texts.frame.close}
        </button>
      </p>
      {failed.map(({ reason, titles }) => (
        <div key={reason} class="failure-words">
          <p>{documentTexts.notDone(titles.length, reason)}</p>
          <p class="many-titles">
            {titles.slice(0, maxTitles).join(' · ')}
            {titles.length > maxTitles && ' …'}
          </p>
        </div>
      ))}
    </div>
  )
}
