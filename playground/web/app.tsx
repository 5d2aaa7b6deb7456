import type { JSX } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { chatAddress, placeOf, type Place } from './address.ts'
import { AgentChoice } from './chat/agent-choice.tsx'
import { Announcer } from './chat/announcer.tsx'
import { ChatsView } from './chats/chats-view.tsx'
import { Composer } from './chat/composer.tsx'
import { LocalModel } from './chat/local-model.tsx'
import { useConversation, type Conversation } from './chat/conversation.ts'
import { shortCount } from './documents/counts.ts'
import { useDocumentList, type DocumentList } from './documents/document-list.ts'
import { DocumentsView } from './documents/documents-view.tsx'
import { Mark, PlusIcon } from './controls/icons.tsx'
import type { AnsweringModel, Service } from './service/service.ts'
import { Thread } from './chat/thread.tsx'
import { Welcome } from './chat/welcome.tsx'
import { FailureNote } from './controls/failure-note.tsx'

interface AppProps {
  readonly service: Service
  /** The model that answers at first. */
  readonly model: AnsweringModel
}

/** The page: a conversation, those before it, and the documents they are about. */
export function App({ service, model: firstModel }: AppProps): JSX.Element {
  const place = usePlace()
  const chat = useChat(service, place)
  const list = useDocumentList(service)
  const [focusRequest, setFocusRequest] = useState(0)
  const [agentId, setAgentId] = useState(0)
  const [model, setModel] = useState(firstModel)
  const newChat = (): void => {
    chat.leave()
    location.hash = ''
    setFocusRequest((count) => count + 1)
  }
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Top place={place} sessionId={chat.sessionId} list={list} isNew={chat.turns.length === 0} newChat={newChat} />
      <main id="main" tabIndex={-1}>
        {/* Kept in place while another view is shown: an answer goes on, and what was typed stays. */}
        <div class={isEmpty(chat) ? 'chat empty' : 'chat'} hidden={place.view !== 'chat'}>
          <Above conversation={chat} list={list} service={service} />
          <div class="dock" key="dock">
            <Composer
              service={service}
              canResearch={model.canResearch}
              isAnswering={chat.isAnswering}
              isFollowUp={!isEmpty(chat)}
              ask={(question, { isResearch }) => chat.ask(question, { isResearch, agentId })}
              stop={() => {
                chat.stop()
                setFocusRequest((count) => count + 1)
              }}
              focusRequest={focusRequest}
            />
            {isEmpty(chat) && <AgentChoice service={service} agentId={agentId} choose={setAgentId} />}
            <p class="model">{model.name}</p>
            {isEmpty(chat) && <LocalModel service={service} onChange={() => void service.model().then(setModel)} />}
          </div>
        </div>
        {place.view === 'chats' && (
          <ChatsView service={service} removed={(id) => (id === chat.sessionId ? chat.leave() : undefined)} />
        )}
        {place.view === 'documents' && <DocumentsView list={list} />}
      </main>
      <Announcer turn={chat.turns.at(-1)} />
    </>
  )
}

const isEmpty = ({ turns, isLoading, failure }: Conversation): boolean =>
  turns.length === 0 && !isLoading && failure === null

function Above({
  conversation,
  list,
  service,
}: {
  conversation: Conversation
  list: DocumentList
  service: Service
}): JSX.Element {
  if (isEmpty(conversation)) return <Welcome counts={list.counts} />
  if (conversation.failure !== null)
    return (
      <div class="thread">
        <FailureNote failure={conversation.failure} />
      </div>
    )
  return <Thread conversation={conversation} service={service} />
}

interface TopProps {
  readonly place: Place
  readonly sessionId: string | null
  readonly list: DocumentList
  readonly isNew: boolean
  readonly newChat: () => void
}

function Top({ place, sessionId, list, isNew, newChat }: TopProps): JSX.Element {
  const chatHash = chatAddress(sessionId)
  return (
    <header class="top">
      <a class="brand" href={chatHash} aria-label="Inlay, to the conversation">
        <Mark />
        <span>Inlay</span>
      </a>
      <nav aria-label="Views">
        <a href={chatHash} aria-current={place.view === 'chat' ? 'page' : undefined}>
          Ask
        </a>
        <a href="#chats" aria-current={place.view === 'chats' ? 'page' : undefined}>
          Chats
        </a>
        <a href="#documents" aria-current={place.view === 'documents' ? 'page' : undefined}>
          Documents
          {list.counts !== undefined && <span class="count">{shortCount(list.counts.total)}</span>}
        </a>
      </nav>
      <button type="button" class={isNew ? 'quiet-button new-chat gone' : 'quiet-button new-chat'} onClick={newChat}>
        <PlusIcon />
        <span>New chat</span>
      </button>
    </header>
  )
}

/** The conversation of the address. While another view is shown it stays what it was. */
function useChat(service: Service, place: Place): Conversation {
  const [wanted, setWanted] = useState(place.view === 'chat' ? place.sessionId : null)
  const began = useCallback((sessionId: string): void => {
    setWanted(sessionId)
    // In place of the address of a new chat: going back from here leads to what was before it.
    if (placeOf(location.hash).view === 'chat') history.replaceState(null, '', chatAddress(sessionId))
  }, [])
  const conversation = useConversation(service, wanted, began)
  useEffect(() => {
    if (place.view === 'chat') setWanted(place.sessionId)
  }, [place])
  const leave = (): void => {
    conversation.leave()
    setWanted(null)
  }
  return { ...conversation, leave }
}

/** The place the address names. */
function usePlace(): Place {
  const [place, setPlace] = useState(placeOf(location.hash))
  useEffect(() => {
    const onChange = (): void => {
      setPlace(placeOf(location.hash))
      scrollTo({ top: 0, behavior: 'instant' })
    }
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return place
}
