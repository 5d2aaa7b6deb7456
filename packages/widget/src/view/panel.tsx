import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { waitingCallsOf, type Question, type Turn } from '@inlay/client/conversation'
import type { StarterMessage } from '@inlay/protocol'
import { ask, type Chat } from '../conversation.ts'
import type { PastChats } from '../past-chats.ts'
import type { InlayChatTexts } from '../texts.ts'
import { Composer } from './composer.tsx'
import { Icon } from './icon.tsx'
import { FailureNote, sourcesOf, TurnView, type CitedSource } from './turn-view.tsx'

export interface PanelProps {
  readonly conversation: Chat
  readonly past: PastChats
  readonly starters: readonly StarterMessage[]
  readonly texts: InlayChatTexts
  readonly openSource: (source: CitedSource) => boolean
  /** Closes the window; absent if the chat is embedded in the page. */
  readonly close: (() => void) | undefined
}

export function Panel({ conversation, past, starters, texts, openSource, close }: PanelProps): JSX.Element {
  const { turns, queue, isAnswering, failure } = conversation.state
  const [focusCount, setFocusCount] = useState(0)
  const begin = (): void => {
    conversation.leave()
    setFocusCount(focusCount + 1)
  }
  const decide = (question: Question): void => {
    conversation.ask(question, {})
    setFocusCount(focusCount + 1)
  }
  return (
    <section class="panel" role={close && 'dialog'} aria-label={texts.heading}>
      <Header conversation={conversation} past={past} texts={texts} close={close} begin={begin} />
      <Log turns={turns.length + queue.length} label={texts.heading}>
        {turns.length + queue.length === 0 && !failure && (
          <>
            <p class="welcome">{texts.welcome}</p>
            {starters.map(({ name, message }) => (
              <button key={message} type="button" class="starter" onClick={() => ask(conversation, message)}>
                {name || message}
              </button>
            ))}
          </>
        )}
        {failure && <FailureNote failure={failure} texts={texts} retry={undefined} />}
        {turns.map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            texts={texts}
            openSource={openSource}
            retry={turn === turns.at(-1) ? () => conversation.retry(turn, {}) : undefined}
            ask={turn === turns.at(-1) ? decide : undefined}
          />
        ))}
        {queue.map((waiting, at) => (
          <p key={at} class="question waiting">
            {waiting.question}
          </p>
        ))}
      </Log>
      <p class="hidden" role="status">
        {statusOf(turns.at(-1), texts)}
      </p>
      <Composer
        texts={texts}
        isAnswering={isAnswering}
        ask={(question) => ask(conversation, question)}
        stop={conversation.stop}
        focusCount={focusCount}
        takesFocus={close !== undefined}
      />
    </section>
  )
}

type HeaderProps = Omit<PanelProps, 'openSource' | 'starters'> & { readonly begin: () => void }

function Header({ conversation, past, texts, close, begin }: HeaderProps): JSX.Element {
  const chats = past.list()
  return (
    <header>
      <h2>{texts.heading}</h2>
      {chats.length > 0 && (
        <select
          aria-label={texts.pastChats}
          value={conversation.state.sessionId ?? ''}
          onChange={(event) => conversation.open(event.currentTarget.value)}
        >
          <option value="" disabled>
            {texts.pastChats}
          </option>
          {chats.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      )}
      <button type="button" aria-label={texts.newChat} title={texts.newChat} onClick={begin}>
        <Icon path="M12 5v14M5 12h14" />
      </button>
      {close && (
        <button type="button" aria-label={texts.close} title={texts.close} onClick={close}>
          <Icon path="M6 6l12 12M18 6L6 18" />
        </button>
      )}
    </header>
  )
}

/** Scrolls to the newest text unless the reader scrolled up. */
function Log({ turns, label, children }: { turns: number; label: string; children: ComponentChildren }): JSX.Element {
  const log = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    isAtEnd.current = true
  }, [turns])
  useEffect(() => {
    if (log.current && isAtEnd.current) log.current.scrollTop = log.current.scrollHeight
  })
  const onScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = log.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40
  }
  return (
    // Scrolls by itself, so it must be reachable by keyboard.
    <div class="log" ref={log} onScroll={onScroll} tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  )
}

/** Announced to screen readers: the progress, then the complete answer once. */
function statusOf(turn: Turn | undefined, texts: InlayChatTexts): string {
  if (turn === undefined || turn.phase === 'failed') return ''
  if (turn.phase === 'stopped') return texts.stopped
  if (turn.phase === 'answering' && turn.isDisconnected) return texts.offline
  if (turn.phase === 'answering') return turn.fold.answer === '' ? texts.working : texts.answering
  const [waiting] = waitingCallsOf(turn, true)
  if (waiting) return texts.approval.replace('{tool}', () => waiting.display_name)
  const sources = sourcesOf(turn.fold.state).map(({ number, title }) => `${number}: ${title}`)
  const answer = turn.fold.answer.replaceAll(/(?<!\s)\s*\[\[\d+\]\]\([^()]*\)/g, '').replaceAll(/[*_`#>|]/g, '')
  return sources.length === 0 ? answer : `${answer} ${texts.sources}: ${sources.join(', ')}`
}
