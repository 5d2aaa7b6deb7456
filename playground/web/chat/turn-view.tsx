import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import { FileIcon, RetryIcon } from '../controls/icons.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import type { Shown } from '../sources/source-card.tsx'
import { Sources } from '../sources/sources.tsx'
import type { Service } from '../service/service.ts'
import { StepList } from '../steps/step-list.tsx'
import { sourcesOf, stepsOf, type Turn } from './turn.ts'
import { FailureNote } from '../controls/failure-note.tsx'

interface TurnViewProps {
  readonly turn: Turn
  /** Only the last turn can be asked again. */
  readonly isLast: boolean
  readonly retry: () => void
  /** Asks for the rest of an answer that was cut. */
  readonly goOn: () => void
  readonly service: Pick<Service, 'passage' | 'file'>
}

/** A question with its steps, answer and sources. */
export function TurnView({ turn, isLast, retry, goOn, service }: TurnViewProps): JSX.Element {
  const [shown, setShown] = useState<Shown | null>(null)
  const cameFrom = useRef<Element | null>(null)
  const { cited, uncited } = sourcesOf(turn)
  const { answer } = turn.fold
  const isAnswering = turn.phase === 'answering'
  const titles = new Map(cited.map((source) => [source.number, source.passages[0].semantic_identifier]))
  const idPrefix = `turn-${turn.id}`
  const citations = {
    label: (number: number) => {
      const title = titles.get(number)
      return title === undefined ? undefined : `Source ${number}: ${title}`
    },
    open: (number: number, sentence: string) => {
      cameFrom.current = document.activeElement
      setShown({ number, sentence, request: (shown?.request ?? 0) + 1 })
    },
  }
  const back = (): void => {
    setShown(null)
    if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus()
  }
  return (
    <article class="turn" aria-labelledby={`${idPrefix}-question`} aria-busy={isAnswering}>
      <h2 class="question" id={`${idPrefix}-question`}>
        {turn.question}
      </h2>
      <div class="turn-body">
        {turn.files.length > 0 && <SentFiles files={turn.files} />}
        <StepList steps={stepsOf(turn)} isWaiting={isAnswering && answer === ''} readFile={service.file} />
        {answer !== '' && (
          <div class={isAnswering ? 'answer streaming' : 'answer'}>
            <Markdown text={answer} citations={citations} />
          </div>
        )}
        {turn.phase === 'stopped' && <p class="turn-note">You stopped this answer.</p>}
        {turn.failure !== null && <FailureNote failure={turn.failure} />}
        {!isAnswering && <Actions turn={turn} isLast={isLast} retry={retry} goOn={goOn} />}
      </div>
      <Sources cited={cited} uncited={uncited} shown={shown} idPrefix={idPrefix} back={back} service={service} />
    </article>
  )
}

function SentFiles({ files }: Pick<Turn, 'files'>): JSX.Element {
  return (
    <ul class="sent-files" aria-label="Files of this question">
      {files.map(({ id, name }) => (
        <li key={id} class="file-chip">
          <FileIcon />
          <span>{name}</span>
        </li>
      ))}
    </ul>
  )
}

function Actions({ turn, isLast, retry, goOn }: Omit<TurnViewProps, 'service'>): JSX.Element | null {
  const { answer } = turn.fold
  const canRetry = isLast && (turn.phase === 'stopped' || turn.failure?.retryable === true)
  if (answer === '' && !canRetry) return null
  return (
    <div class="turn-actions">
      {answer !== '' && <CopyButton text={withPlainCitations(answer)} label="Copy answer" />}
      {canRetry && (
        <button type="button" class="quiet-button" onClick={retry}>
          <RetryIcon />
          Try again
        </button>
      )}
      {isLast && turn.phase !== 'stopped' && wasCut(answer) && (
        <button type="button" class="quiet-button" onClick={goOn}>
          Go on
        </button>
      )}
    </div>
  )
}

/** Whether the service says at the end of an answer that its model could write no more. */
export function wasCut(answer: string): boolean {
  return /\*The answer ends here because the model reached its output limit[^*]*\*$/.test(answer.trimEnd())
}

/** Markdown for the clipboard: `[[1]](https://…)` becomes `[1](https://…)`, which every other program shows as a link. */
export function withPlainCitations(answer: string): string {
  return answer.replaceAll(/\[\[(\d+)\]\]\(([^)]*)\)/g, (_, number, link) =>
    link === '' ? `[${number}]` : `[${number}](${link})`,
  )
}
