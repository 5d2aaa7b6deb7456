import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Conversation } from './conversation.ts'
import { DownIcon } from './icons.tsx'
import { TurnView } from './turn-view.tsx'

/** How far from its end the page still counts as read to the end, in pixels. */
const nearEnd = 120

/** The turns of a conversation. Follows a growing answer until the reader scrolls up, and offers the way back down. */
export function Thread({ conversation }: { conversation: Conversation }): JSX.Element {
  const { turns, retry } = conversation
  const end = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const [isAtEnd, setIsAtEnd] = useState(true)
  useEffect(() => {
    let lastTop = scrollY
    const onScroll = (): void => {
      const left = document.documentElement.scrollHeight - innerHeight - scrollY
      if (scrollY < lastTop && left > nearEnd) follows.current = false
      if (left <= nearEnd) follows.current = true
      lastTop = scrollY
      setIsAtEnd(left <= nearEnd)
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  const last = turns.at(-1)
  // A new question is always shown, wherever the reader was.
  useLayoutEffect(() => {
    follows.current = true
  }, [last?.id])
  useLayoutEffect(() => {
    if (last?.phase === 'answering' && follows.current) scrollTo({ top: document.documentElement.scrollHeight })
  }, [last])
  return (
    <div class="thread">
      {turns.map((turn) => (
        <TurnView key={turn.id} turn={turn} isLast={turn === last} retry={retry} />
      ))}
      <div ref={end} />
      {!isAtEnd && (
        <button
          type="button"
          class="to-end"
          aria-label="Go to the end"
          title="Go to the end"
          onClick={() => end.current?.scrollIntoView({ block: 'end' })}
        >
          <DownIcon />
        </button>
      )}
    </div>
  )
}
