import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Conversation } from './conversation.ts'
import { DownIcon } from '../controls/icons.tsx'
import type { Service } from '../service/service.ts'
import { TurnView } from './turn-view.tsx'

/** How far from its end the page still counts as read to the end, in pixels. */
const nearEnd = 80

const goOnText = 'Please go on where you stopped.'

interface ThreadProps {
  readonly conversation: Conversation
  readonly service: Pick<Service, 'passage' | 'file'>
}

/**
 * The turns of a conversation. A new question goes to the top of the window and its answer grows below it, so that
 * nothing moves under the reader's eyes; where it grows out of the window, a button leads to its end.
 */
export function Thread({ conversation, service }: ThreadProps): JSX.Element {
  const { turns, retry, ask } = conversation
  const goOn = (): void => ask({ question: goOnText, files: [] })
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
      <h1 class="visually-hidden">Conversation</h1>
      {turns.map((turn) => (
        <div key={turn.id} class="turn-place" ref={turn === last ? lastTurn : undefined}>
          <TurnView turn={turn} isLast={turn === last} retry={retry} goOn={goOn} service={service} />
        </div>
      ))}
      {!isAtEnd && (
        <button
          type="button"
          class="to-end"
          aria-label="Go to the end"
          title="Go to the end"
          onClick={() => scrollTo({ top: document.documentElement.scrollHeight })}
        >
          <DownIcon />
        </button>
      )}
    </div>
  )
}
