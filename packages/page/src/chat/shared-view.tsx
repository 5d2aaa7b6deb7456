import { FailureNote } from '../controls/failure-note.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { storedTurns } from '@inlay/client/conversation'
import { TurnView } from './turn-view.tsx'

interface SharedViewProps {
  readonly sessionId: string
  readonly service: Pick<Service, 'sharedChat' | 'passage' | 'file'>
}

export function SharedView({ sessionId, service }: SharedViewProps) {
  const { value: read, failure } = useLoaded(
    async (signal) => {
      const session = await service.sharedChat(sessionId, signal).catch(hidden)
      return { name: session.description, turns: storedTurns(session, 1, texts.chat).turns }
    },
    [sessionId, service],
  )
  const { sharedChat, sharedLead, ownChat, untitled } = texts.chat
  return (
    <div class="chat shared u-flex u-grow u-full">
      <div class="thread u-grow">
        {read === undefined && failure === null && <p role="status">{texts.frame.loading}</p>}
        {failure !== null && <FailureNote failure={failure} />}
        {read !== undefined && (
          <>
            <header class="shared-head u-grid u-gap-6 u-muted u-line-below">
              <p class="shared-mark u-small u-bold">{sharedChat}</p>
              <h1 class="u-text" dir="auto">
                {read.name || untitled}
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

function hidden(error: unknown): never {
  const isHidden = isInlayError(error) && (error.data.status === 403 || error.data.status === 404)
  throw isHidden ? new InlayError('NOT_FOUND', { message: texts.chat.notShared }) : error
}
