import { useEffect, useState } from 'preact/hooks'
import { FailureNote } from '../controls/failure-note.tsx'
import { isInlayError } from '@inlay/protocol'
import { toFailure, type Failure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { storedTurns } from '@inlay/client/conversation'
import type { Turn } from '@inlay/client/conversation'
import { TurnView } from './turn-view.tsx'

interface SharedViewProps {
  readonly sessionId: string
  readonly service: Pick<Service, 'sharedChat' | 'passage' | 'file'>
}

type Read = { readonly name: string; readonly turns: readonly Turn[] } | { readonly failure: Failure }

/** A conversation that somebody shared: to be read, without a way to go on with it. */
export function SharedView({ sessionId, service }: SharedViewProps) {
  const [read, setRead] = useState<Read | undefined>(undefined)
  useEffect(() => {
    const leave = new AbortController()
    setRead(undefined)
    service.sharedChat(sessionId, leave.signal).then(
      (session) => setRead({ name: session.description ?? '', turns: storedTurns(session, 1, texts.chat).turns }),
      (error: unknown) => {
        if (!leave.signal.aborted) setRead({ failure: toSharedFailure(error) })
      },
    )
    return () => leave.abort()
  }, [sessionId, service])
  const { sharedChat, sharedLead, ownChat, untitled } = texts.chat
  return (
    <div class="chat shared u-flex u-grow u-full">
      <div class="thread u-grow">
        {read === undefined && <p role="status">{texts.frame.loading}</p>}
        {read !== undefined && 'failure' in read && <FailureNote failure={read.failure} />}
        {read !== undefined && 'turns' in read && (
          <>
            <header class="shared-head u-grid u-gap-6 u-muted u-line-below">
              <p class="shared-mark u-small u-bold">{sharedChat}</p>
              <h1 class="u-text" dir="auto">
                {read.name === '' ? untitled : read.name}
              </h1>
              <p>
                {sharedLead} <a href="#">{ownChat}</a>
              </p>
            </header>
            {read.turns.map((turn, at) => (
              <div key={turn.id} class="turn-place">
                <TurnView
                  turn={turn}
                  isLast={at === read.turns.length - 1}
                  conversation={null}
                  models={[]}
                  goOn={() => {}}
                  service={service}
                />
              </div>
            ))}
          </>
        )}
      </div>
    </div>
  )
}

function toSharedFailure(error: unknown): Failure {
  const isHidden = isInlayError(error) && (error.data.status === 403 || error.data.status === 404)
  return isHidden ? { message: texts.chat.notShared, retryable: false } : toFailure(error)
}
