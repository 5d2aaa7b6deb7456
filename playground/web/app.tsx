import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Announcer } from './announcer.tsx'
import { Composer } from './composer.tsx'
import { useConversation } from './conversation.ts'
import { useDocumentList } from './document-list.ts'
import { DocumentsView } from './documents-view.tsx'
import { Mark, PlusIcon } from './icons.tsx'
import type { Service } from './service.ts'
import { Thread } from './thread.tsx'
import { Examples, Welcome } from './welcome.tsx'

interface AppProps {
  readonly service: Service
  /** The model that answers, named as what it is. */
  readonly modelName: string
}

/** The page: a conversation, and the documents it is about. */
export function App({ service, modelName }: AppProps): JSX.Element {
  const view = useView()
  const conversation = useConversation(service)
  const list = useDocumentList(service)
  const [focusRequest, setFocusRequest] = useState(0)
  const focusQuestion = (): void => setFocusRequest((count) => count + 1)
  const isEmpty = conversation.turns.length === 0
  const newChat = (): void => {
    conversation.clear()
    location.hash = ''
    focusQuestion()
  }
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="#" aria-label="Inlay, to the conversation">
          <Mark />
          <span>Inlay</span>
        </a>
        <nav aria-label="Views">
          <a href="#" aria-current={view === 'chat' ? 'page' : undefined}>
            Ask
          </a>
          <a href="#documents" aria-current={view === 'documents' ? 'page' : undefined}>
            Documents
            {list.documents !== undefined && (
              <span class="count">
                {list.documents.length}
                {list.more ? '+' : ''}
              </span>
            )}
          </a>
        </nav>
        <button
          type="button"
          class={isEmpty ? 'quiet-button new-chat gone' : 'quiet-button new-chat'}
          onClick={newChat}
        >
          <PlusIcon />
          <span>New chat</span>
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {/* Kept in place while the other view is shown: an answer goes on, and what was typed stays. */}
        <div class={isEmpty ? 'chat empty' : 'chat'} hidden={view !== 'chat'}>
          {isEmpty ? (
            <Welcome key="above" documents={list.documents} />
          ) : (
            <Thread key="above" conversation={conversation} readPassage={service.passage} />
          )}
          <div class="dock" key="dock">
            <Composer
              isAnswering={conversation.isAnswering}
              isFollowUp={!isEmpty}
              ask={conversation.ask}
              stop={() => {
                conversation.stop()
                focusQuestion()
              }}
              focusRequest={focusRequest}
            />
            <p class="model">{modelName}</p>
          </div>
          {isEmpty && <Examples key="examples" documents={list.documents} service={service} ask={conversation.ask} />}
        </div>
        {view === 'documents' && <DocumentsView list={list} />}
      </main>
      <Announcer turn={conversation.turns.at(-1)} />
    </>
  )
}

type View = 'chat' | 'documents'

const viewOf = (hash: string): View => (hash === '#documents' ? 'documents' : 'chat')

/** The view the address names, so that the browser's back button works. */
function useView(): View {
  const [view, setView] = useState<View>(viewOf(location.hash))
  useEffect(() => {
    const onChange = (): void => {
      setView(viewOf(location.hash))
      scrollTo({ top: 0, behavior: 'instant' })
    }
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return view
}
