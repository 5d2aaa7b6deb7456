import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Conversation } from './conversation.ts'
import { DownIcon } from '../controls/icons.tsx'
import type { ListedModel, Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { QuoteButton } from './quote-button.tsx'
import { ThreadHead } from './thread-head.tsx'
import { TurnView } from './turn-view.tsx'

/** How far from its end the page still counts as read to the end, in pixels. */
const nearEnd = 80

interface ThreadProps {
  readonly conversation: Conversation
  readonly service: Pick<Service, 'passage' | 'file' | 'chat' | 'share'>
  readonly models: readonly ListedModel[]
  /** Begins a question about a text. */
  readonly quote: (text: string) => void
}

/**
 * The turns of a conversation. A new question goes to the top of the window and its answer grows below it, so that
 * nothing moves under the reader's eyes; where it grows out of the window, a button leads to its end.
 */
export function Thread({ conversation, service, models, quote }: ThreadProps): JSX.Element {
  const { turns, ask, sessionId } = conversation
  const goOn = (): void => ask({ question: texts.chat.goOnText, files: [] })
  const [isAtEnd, setIsAtEnd] = useState(true)
  const last = turns.at(-1)
  const lastTurn = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const look = (): void => setIsAtEnd(document.documentElement.scrollHeight - innerHeight - scrollY <= nearEnd)
    const sizes = new ResizeObserver(look)
    sizes.observe(document.documentElement)
    addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      removeEventListener('scroll', look)
    }
  }, [])
  useLayoutEffect(() => {
    lastTurn.current?.scrollIntoView({ block: 'start' })
  }, [last?.id])
  return (
    <div class="thread">
      <h1 class="visually-hidden">{texts.chat.conversation}</h1>
      {sessionId !== null && <ThreadHead key={sessionId} sessionId={sessionId} service={service} />}
      {turns.map((turn) => (
        <div key={turn.id} class="turn-place" ref={turn === last ? lastTurn : undefined}>
          <TurnView
            turn={turn}
            isLast={turn === last}
            conversation={conversation}
            models={models}
            goOn={goOn}
            service={service}
          />
        </div>
      ))}
      <QuoteButton quote={quote} />
      {!isAtEnd && (
        <button
          type="button"
          class="to-end"
          aria-label={texts.chat.goToEnd}
          title={texts.chat.goToEnd}
          onClick={() => scrollTo({ top: document.documentElement.scrollHeight })}
        >
          <DownIcon />
        </button>
      )}
    </div>
  )
}
