import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { FailureNote } from '../controls/failure-note.tsx'
import { Markdown, type CitationHandling } from '../markdown/markdown.tsx'
import { isOffline } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import type { Shown } from '../sources/source-card.tsx'
import { Sources } from '../sources/sources.tsx'
import { StepList } from '../steps/step-list.tsx'
import { texts } from '../texts/texts.ts'
import { sourcesOf, stepsOf, type Turn } from '@inlay/client/conversation'

interface AnswerViewProps {
  readonly turn: Turn
  readonly idPrefix: string
  /** Name of the answer if several are shown side by side. Default: "". */
  readonly name?: string
  readonly service: Pick<Service, 'passage' | 'file'>
  readonly above?: ComponentChildren
  readonly children?: ComponentChildren
}

export function AnswerView({ turn, idPrefix, name = '', service, above, children }: AnswerViewProps) {
  const { messageId } = turn.fold.state
  const [opened, setOpened] = useState<(Shown & { readonly messageId: number | null }) | null>(null)
  // Another version of the answer has other sources.
  const shown = opened?.messageId === messageId ? opened : null
  const cameFrom = useRef<Element | null>(null)
  const { cited, uncited } = sourcesOf(turn)
  const { answer } = turn.fold
  const isAnswering = turn.phase === 'answering'
  // Removing the caret restyles all blocks, so it happens in a task after the one that shows the end of the answer.
  const [hasCaret, setHasCaret] = useState(isAnswering)
  useEffect(() => {
    const timer = setTimeout(setHasCaret, 0, isAnswering)
    return () => clearTimeout(timer)
  }, [isAnswering])
  const titles = JSON.stringify(cited.map((source) => [source.number, source.passages[0].semantic_identifier]))
  // The same object as long as the titles are the same: finished blocks of the answer are not drawn again.
  const citations = useMemo((): CitationHandling => {
    const byNumber = new Map<number, string>(JSON.parse(titles))
    return {
      label: (number) => (byNumber.has(number) ? texts.chat.source(number, byNumber.get(number) ?? '') : undefined),
      open: (number, sentence) => {
        cameFrom.current = document.activeElement
        setOpened((known) => ({ number, sentence, messageId, request: (known?.request ?? 0) + 1 }))
      },
    }
  }, [titles, messageId])
  const numberOf = (documentId: string): number | undefined =>
    cited.find((source) => source.documentId === documentId)?.number ?? undefined
  const back = (): void => {
    setOpened(null)
    if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus()
  }
  return (
    <>
      <div class="turn-body">
        {above}
        <StepList
          steps={stepsOf(turn)}
          question={turn.question}
          isWaiting={isAnswering && answer === '' && !turn.isDisconnected}
          sources={{ ...citations, numberOf }}
          readFile={service.file}
        />
        {answer !== '' && (
          <div class={hasCaret ? 'answer streaming u-reading' : 'answer u-reading'}>
            <Markdown text={answer} isGrowing={isAnswering} citations={citations} />
          </div>
        )}
        {isAnswering && turn.isDisconnected && <p class="turn-note disconnected u-muted">{disconnectedNote()}</p>}
        {turn.phase === 'stopped' && <p class="turn-note u-muted">{texts.chat.youStopped}</p>}
        {turn.failure !== null && <FailureNote failure={turn.failure} />}
        {turn.failure?.waitSeconds !== undefined && <Countdown seconds={turn.failure.waitSeconds} />}
        {children}
      </div>
      <Sources
        cited={cited}
        uncited={uncited}
        name={name}
        shown={shown}
        idPrefix={idPrefix}
        questionId={`turn-${turn.id}-question`}
        back={back}
        service={service}
      />
    </>
  )
}

export const disconnectedNote = (): string => (isOffline() ? texts.chat.offline : texts.chat.disconnected)

/** Counts down the seconds until the question goes out again by itself. */
function Countdown({ seconds }: { seconds: number }) {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const timer = setInterval(() => setLeft((known) => Math.max(0, known - 1)), 1000)
    return () => clearInterval(timer)
  }, [])
  return <p class="turn-note u-muted">{texts.chat.asksAgain(left)}</p>
}
