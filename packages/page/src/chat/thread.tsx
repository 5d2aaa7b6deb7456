import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { chatAddress, type Place } from '../address.ts'
import type { Conversation } from './conversation.ts'
import { Icon } from '../controls/icons.tsx'
import { pure } from '../controls/pure.tsx'
import type { ListedModel, Service } from '../service/service.ts'
import type { Projects } from '../projects/projects.ts'
import { texts } from '../texts/texts.ts'
import { QuoteButton } from './quote-button.tsx'
import { ThreadHead } from './thread-head.tsx'
import { hasMessage } from '@inlay/client/conversation'
import { TurnView, type SteadyConversation } from './turn-view.tsx'

/** How far from its end the page still counts as read to the end, in pixels. */
const nearEnd = 80

export interface ThreadProps {
  readonly conversation: Conversation
  /** May name a message to begin reading at. */
  readonly goal: Place
  readonly projects: Projects
  readonly service: Pick<Service, 'passage' | 'file' | 'chat' | 'share'>
  readonly models: readonly ListedModel[]
  readonly quote: (text: string) => void
}

/**
 * The turns of a conversation. A new question goes to the top of the window and its answer grows below it, so that
 * nothing moves under the reader's eyes; where it grows out of the window, a button leads to its end.
 */
export function Thread({ conversation, goal, projects, service, models, quote }: ThreadProps) {
  const { turns, sessionId } = conversation
  const steady = useSteady(conversation)
  const [isAtEnd, setIsAtEnd] = useState(true)
  const last = turns.at(-1)
  const places = useRef(new Map<number, HTMLDivElement>())
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
  const foundId = useFoundTurn(conversation, goal, places.current)
  // A version that is chosen leaves the reader at its place.
  const firstShown = useRef<number | undefined>(undefined)
  useLayoutEffect(() => {
    const isSameChat = firstShown.current === turns[0]?.id
    firstShown.current = turns[0]?.id
    if (last === undefined || ((foundId !== null || isSameChat) && last.phase !== 'answering')) return
    places.current.get(last.id)?.scrollIntoView({ block: 'start' })
  }, [last?.id])
  return (
    <div class="thread u-grow">
      <h1 class="visually-hidden">{texts.chat.conversation}</h1>
      {sessionId !== null && <ThreadHead key={sessionId} sessionId={sessionId} projects={projects} service={service} />}
      {turns.map((turn) => (
        <div
          key={turn.id}
          class={turn.id === foundId ? 'turn-place found' : 'turn-place'}
          tabIndex={turn.id === foundId ? -1 : undefined}
          ref={(place) => {
            if (place === null) places.current.delete(turn.id)
            else places.current.set(turn.id, place)
          }}
        >
          <SteadyTurn
            turn={turn}
            isLast={turn === last}
            conversation={steady}
            models={models}
            goOn={steady.goOn}
            service={service}
          />
        </div>
      ))}
      <QuoteButton quote={quote} />
      {!isAtEnd && (
        <button
          type="button"
          class="to-end u-grid u-place-center u-fixed u-line u-surface u-shadow"
          aria-label={texts.chat.goToEnd}
          title={texts.chat.goToEnd}
          onClick={() => scrollTo({ top: document.documentElement.scrollHeight })}
        >
          <Icon name="down" />
        </button>
      )}
    </div>
  )
}

const SteadyTurn = pure(TurnView)

/** The button that was pressed goes with its turn. A phone would cover the answer with its keyboard. */
function focusComposer(): void {
  if (matchMedia('(hover: hover)').matches) document.getElementById('question')?.focus({ preventScroll: true })
}

/** Functions of a conversation, the same object while an answer streams: finished turns are not rendered again. */
function useSteady(conversation: Conversation): SteadyConversation & { readonly goOn: () => void } {
  const latest = useRef(conversation)
  latest.current = conversation
  const { isAnswering } = conversation
  return useMemo(
    () => ({
      isAnswering,
      ask: (...given) => {
        latest.current.ask(...given)
        focusComposer()
      },
      retry: (...given) => {
        latest.current.retry(...given)
        focusComposer()
      },
      edit: (...given) => {
        latest.current.edit(...given)
        focusComposer()
      },
      choose: (...given) => latest.current.choose(...given),
      rate: (...given) => latest.current.rate(...given),
      keep: (...given) => latest.current.keep(...given),
      goOn: () => {
        latest.current.ask({ question: texts.chat.goOnText, files: [] })
        focusComposer()
      },
    }),
    [isAnswering],
  )
}

/**
 * Goes to the turn with the message that the address names, once for each time it is gone to; from then on the address is
 * that of the conversation. @returns the turn gone to, until another question is asked; null for none
 */
function useFoundTurn(
  { turns, sessionId }: Conversation,
  goal: Place,
  places: ReadonlyMap<number, HTMLDivElement>,
): number | null {
  const [foundId, setFoundId] = useState<number | null>(null)
  const reached = useRef<Place | null>(null)
  const messageId = goal.view === 'chat' && reached.current !== goal ? goal.messageId : undefined
  const target = messageId === undefined ? undefined : turns.find((turn) => hasMessage(turn, messageId))
  useLayoutEffect(() => {
    if (target === undefined) return
    reached.current = goal
    setFoundId(target.id)
    history.replaceState(null, '', chatAddress(sessionId))
    const place = places.get(target.id)
    place?.scrollIntoView({ block: 'start' })
    place?.focus({ preventScroll: true })
  }, [target, goal])
  const isAsked = turns.at(-1)?.phase === 'answering'
  useEffect(() => {
    if (isAsked) setFoundId(null)
  }, [isAsked])
  // Turns of another conversation have other ids.
  return target?.id ?? (turns.some(({ id }) => id === foundId) ? foundId : null)
}
