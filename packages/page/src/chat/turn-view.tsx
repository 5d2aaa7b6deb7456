import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { FileIcon } from '../controls/icons.tsx'
import { Markdown, type CitationHandling } from '../markdown/markdown.tsx'
import type { Shown } from '../sources/source-card.tsx'
import { Sources } from '../sources/sources.tsx'
import type { ListedModel, Service } from '../service/service.ts'
import { StepList } from '../steps/step-list.tsx'
import { texts } from '../texts/texts.ts'
import { AnswerActions } from './answer-actions.tsx'
import type { Conversation } from './conversation.ts'
import { QuestionView } from './question-view.tsx'
import { sourcesOf, stepsOf, type Turn } from './turn.ts'
import { FailureNote } from '../controls/failure-note.tsx'

interface TurnViewProps {
  readonly turn: Turn
  readonly isLast: boolean
  /** Null where it can only be read. */
  readonly conversation: Pick<Conversation, 'isAnswering' | 'retry' | 'edit' | 'choose' | 'rate'> | null
  /** Those that an answer can be asked of. */
  readonly models: readonly ListedModel[]
  /** Asks for the rest of an answer that was cut. */
  readonly goOn: () => void
  readonly service: Pick<Service, 'passage' | 'file'>
}

/** A question with its steps, answer and sources. */
export function TurnView({ turn, isLast, conversation, models, goOn, service }: TurnViewProps): JSX.Element {
  const [shown, setShown] = useState<Shown | null>(null)
  const cameFrom = useRef<Element | null>(null)
  const { cited, uncited } = sourcesOf(turn)
  const { answer } = turn.fold
  const isAnswering = turn.phase === 'answering'
  const idPrefix = `turn-${turn.id}`
  const titles = JSON.stringify(cited.map((source) => [source.number, source.passages[0].semantic_identifier]))
  // The same object as long as the titles are the same: finished blocks of the answer are not drawn again.
  const citations = useMemo((): CitationHandling => {
    const byNumber = new Map<number, string>(JSON.parse(titles))
    return {
      label: (number) => (byNumber.has(number) ? texts.chat.source(number, byNumber.get(number) ?? '') : undefined),
      open: (number, sentence) => {
        cameFrom.current = document.activeElement
        setShown((known) => ({ number, sentence, request: (known?.request ?? 0) + 1 }))
      },
    }
  }, [titles])
  const numberOf = (documentId: string): number | undefined =>
    cited.find((source) => source.documentId === documentId)?.number ?? undefined
  const back = (): void => {
    setShown(null)
    if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus()
  }
  return (
    <article class="turn" aria-labelledby={`${idPrefix}-question`} aria-busy={isAnswering}>
      <QuestionView turn={turn} id={`${idPrefix}-question`} conversation={conversation} />
      <div class="turn-body">
        {turn.files.length > 0 && <SentFiles files={turn.files} />}
        <StepList
          steps={stepsOf(turn)}
          question={turn.question}
          isWaiting={isAnswering && answer === ''}
          sources={{ ...citations, numberOf }}
          readFile={service.file}
        />
        {answer !== '' && (
          <div class={isAnswering ? 'answer streaming' : 'answer'}>
            <Markdown
              text={answer}
              isGrowing={isAnswering}
              citations={citations}
              unsupported={turn.fold.state.unsupportedNumbers}
            />
          </div>
        )}
        {turn.phase === 'stopped' && <p class="turn-note">{texts.chat.youStopped}</p>}
        {turn.failure !== null && <FailureNote failure={turn.failure} />}
        {turn.failure?.waitSeconds !== undefined && <Countdown seconds={turn.failure.waitSeconds} />}
        {!isAnswering && (
          <AnswerActions turn={turn} isLast={isLast} conversation={conversation} models={models} goOn={goOn} />
        )}
      </div>
      <Sources cited={cited} uncited={uncited} shown={shown} idPrefix={idPrefix} back={back} service={service} />
    </article>
  )
}

function SentFiles({ files }: Pick<Turn, 'files'>): JSX.Element {
  return (
    <ul class="sent-files" aria-label={texts.chat.filesOfQuestion}>
      {files.map(({ id, name }) => (
        <li key={id} class="file-chip">
          <FileIcon />
          <span>{name}</span>
        </li>
      ))}
    </ul>
  )
}

/** Counts down the seconds until the question goes out again by itself. */
function Countdown({ seconds }: { seconds: number }): JSX.Element {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const timer = setInterval(() => setLeft((known) => Math.max(0, known - 1)), 1000)
    return () => clearInterval(timer)
  }, [])
  return <p class="turn-note">{texts.chat.asksAgain(left)}</p>
}
