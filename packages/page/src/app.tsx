import type { MinimalPersona } from '@inlay/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { chatAddress, isServed, placeOf, servedPlace, type Place } from './address.ts'
import { AgentChoice } from './chat/agent-choice.tsx'
import { Announcer } from './chat/announcer.tsx'
import { ChatsView } from './chats/chats-view.tsx'
import { Sidebar } from './chats/sidebar.tsx'
import { Composer, type ComposerProps } from './chat/composer.tsx'
import { withOfferedModels } from './chat/composer-options.ts'
import { quoted } from './chat/copied-answer.ts'
import { LocalModel } from './chat/local-model.tsx'
import { SharedView } from './chat/shared-view.tsx'
import { useConversation, type Conversation } from './chat/conversation.ts'
import type { Counts } from './service/counts.ts'
import { openDocumentById } from './documents/preview/open-document.tsx'
import { useCounts } from './documents/use-counts.ts'
import { announceChange } from './service/tabs.ts'
import type { OpenService } from './service/open-service.ts'
import { defaultSettings, type AgentAction, type AnswerSettings, type Service } from './service/service.ts'
import { InProject } from './projects/in-project.tsx'
import { useProjects } from './projects/projects.ts'
import { SearchView } from './search/search-view.tsx'
import { Thread, type ThreadProps } from './chat/thread.tsx'
import { Starters, Welcome } from './chat/welcome.tsx'
import { FailureNote } from './controls/failure-note.tsx'
import { Pane } from './pane/pane.tsx'
import { FirstRun } from './first-run.tsx'
import { lazyView } from './controls/lazy-view.tsx'
import { useListener } from './controls/use-listener.ts'
import { texts } from './texts/texts.ts'

const ProjectView = lazyView(async () => (await import('./projects/project-view.tsx')).ProjectView)
const DocumentsView = lazyView(async () => (await import('./documents/documents-view.tsx')).DocumentsView)
const HealthView = lazyView(async () => (await import('./health/health-view.tsx')).HealthView)
const AdminView = lazyView(async () => (await import('./admin/admin-view.tsx')).AdminView)

export function App({
  service,
  model: firstModel,
  agents: firstAgents,
  counts: firstCounts,
  chats,
  projects: firstProjects,
  admin,
}: OpenService) {
  const place = usePlace()
  const [model, setModel] = useState(firstModel)
  const [chosen, changeSettings] = useState(defaultSettings)
  const settings = useMemo(() => withOfferedModels(chosen, model.all), [chosen, model])
  useEffect(() => {
    if ('documentId' in place) void openDocumentById(place.documentId, service)
  }, [place])
  const projects = useProjects(service, firstProjects)
  const [projectId, setProjectId] = useState<number | undefined>(undefined)
  const project = projects.all.find(({ id }) => id === projectId)
  const chat = useChat(service, place, settings, project !== undefined)
  // Deleting many chats takes a while, in which another may be opened.
  const latestChat = useRef(chat)
  latestChat.current = chat
  const [counts, setCounts] = useCounts(service, firstCounts, place.view === 'documents')
  const main = useRef<HTMLElement>(null)
  const [focusRequest, setFocusRequest] = useState(0)
  const [agentId, setAgentId] = useState(0)
  const [insertion, setInsertion] = useState('')
  const quote = useCallback((text: string): void => {
    setInsertion(quoted(text))
    setFocusRequest((count) => count + 1)
  }, [])
  const [agents, setAgents] = useState(firstAgents)
  const chooseAgent = (id: number): void => {
    setAgentId(id)
    // Actions belong to the agent before.
    changeSettings((known) => ({ ...known, allowedTools: null }))
  }
  const agent = agents.find(({ id }) => id === agentId)
  const ask: ComposerProps['ask'] = (question, { isResearch }) => {
    chat.ask(question, { isResearch, agentId, projectId: project?.id })
  }
  const newChat = (inProject?: number): void => {
    chat.leave()
    setProjectId(inProject)
    location.hash = ''
    setFocusRequest((count) => count + 1)
  }
  return (
    <>
      <a
        class="skip u-fixed u-round-8 u-surface"
        href="#main"
        onClick={(event) => {
          // The browser would treat it as the address of a new chat.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {texts.frame.skip}
      </a>
      <Sidebar
        service={service}
        firstChats={chats}
        place={place}
        sessionId={chat.sessionId}
        counts={counts}
        isNew={chat.turns.length === 0}
        newChat={() => newChat()}
        projects={projects}
        isAdmin={admin !== null}
      />
      <main id="main" tabIndex={-1} ref={main}>
        {/* Kept in place while another view is shown: an answer goes on, and what was typed stays. */}
        {isServed('chat') && (
          <div
            class={isEmpty(chat) ? 'chat empty u-flex u-grow u-full' : 'chat u-flex u-grow u-full'}
            hidden={place.view !== 'chat'}
          >
            <Above
              conversation={chat}
              goal={place}
              projects={projects}
              counts={counts}
              service={service}
              models={model.all}
              quote={quote}
              agent={agentId === 0 ? undefined : agent}
            />
            <div class="dock u-sticky" key="dock">
              <Composer
                service={service}
                canResearch={model.canResearch}
                isAnswering={chat.isAnswering}
                isFollowUp={!isEmpty(chat)}
                ask={ask}
                stop={() => {
                  chat.stop()
                  setFocusRequest((count) => count + 1)
                }}
                focusRequest={focusRequest}
                insertion={insertion}
                inserted={() => setInsertion('')}
                queue={chat.queue}
                unqueue={chat.unqueue}
                sessionId={chat.sessionId}
                settings={settings}
                changeSettings={changeSettings}
                models={model.all}
                actions={actionsOf(agents.find(({ id }) => id === (chat.agentId ?? agentId)))}
                agents={agents}
                chooseAgent={chooseAgent}
                newChat={() => newChat()}
              />
              {isEmpty(chat) && project !== undefined && (
                <InProject name={project.name} leave={() => setProjectId(undefined)} />
              )}
              {isEmpty(chat) && <AgentChoice agents={agents} agentId={agentId} choose={chooseAgent} />}
              {isEmpty(chat) && (
                <Starters agent={agent} ask={(question) => ask({ question, files: [] }, { isResearch: false })} />
              )}
              <p class="model u-note">{model.name}</p>
              {isEmpty(chat) && admin !== null && chats.chats.length === 0 && (
                <FirstRun counts={counts} model={model} />
              )}
              {isEmpty(chat) && <LocalModel service={service} onChange={() => void service.model().then(setModel)} />}
            </div>
          </div>
        )}
        {place.view === 'shared' && <SharedView key={place.sessionId} sessionId={place.sessionId} service={service} />}
        {place.view === 'chats' && (
          <ChatsView
            service={service}
            projects={projects}
            removed={(id) => (id === latestChat.current.sessionId ? latestChat.current.leave() : undefined)}
          />
        )}
        {place.view === 'project' && (
          <ProjectView
            key={place.projectId}
            service={service}
            projectId={place.projectId}
            startChat={() => newChat(place.projectId)}
            removed={() => {
              location.hash = ''
            }}
          />
        )}
        {place.view === 'search' && <SearchView service={service} />}
        {place.view === 'documents' && (
          <DocumentsView service={service} counts={counts} onCounts={setCounts} admin={admin} />
        )}
        {place.view === 'health' && admin !== null && <HealthView calls={admin} model={model.name} />}
        {place.view === 'admin' && admin !== null && (
          <AdminView
            section={place.section}
            calls={admin}
            service={service}
            modelChanged={() => void service.model().then(setModel)}
            agentsChanged={() => void service.agents().then(setAgents)}
            tryAgent={(id) => {
              newChat()
              chooseAgent(id)
            }}
          />
        )}
      </main>
      <Pane service={service} />
      <Announcer turn={chat.turns.at(-1)} />
    </>
  )
}

const actionsOf = (agent: MinimalPersona | undefined): readonly AgentAction[] =>
  agent?.tools.map(({ id, display_name: name }) => ({ id, name })) ?? []

const isEmpty = ({ turns, isLoading, failure }: Conversation): boolean =>
  turns.length === 0 && !isLoading && failure === null

interface AboveProps extends ThreadProps {
  readonly service: Service
  readonly counts: Counts | undefined
  readonly agent: MinimalPersona | undefined
}

function Above(props: AboveProps) {
  if (isEmpty(props.conversation)) return <Welcome {...props} />
  const { failure, turns } = props.conversation
  return (
    <>
      {failure !== null && (
        <div class={turns.length === 0 ? 'thread u-grow' : 'failure-above u-sticky'} key="failure">
          <FailureNote failure={failure} />
        </div>
      )}
      {(failure === null || turns.length > 0) && <Thread key="thread" {...props} />}
    </>
  )
}

/** The conversation of the address. While another view is shown it stays what it was. */
function useChat(service: Service, place: Place, settings: AnswerSettings, isInProject: boolean): Conversation {
  const [wanted, setWanted] = useState(place.view === 'chat' ? place.sessionId : null)
  const startsInProject = useRef(isInProject)
  startsInProject.current = isInProject
  const began = useCallback((sessionId: string): void => {
    setWanted(sessionId)
    if (startsInProject.current) announceChange({ kind: 'projects' })
    // Replaces the address of the new chat, so that the back button leads to the page before it.
    if (placeOf(location.hash).view === 'chat') history.replaceState(null, '', chatAddress(sessionId))
  }, [])
  // The same object while other views are shown, so that going back to the chat moves nothing.
  const lastGoal = useRef<{ readonly messageId?: number }>({})
  if (place.view === 'chat') lastGoal.current = place
  const goal = lastGoal.current
  const conversation = useConversation(service, wanted, goal, began, settings)
  useEffect(() => {
    if (place.view === 'chat') setWanted(place.sessionId)
  }, [place])
  const leave = (): void => {
    conversation.leave()
    setWanted(null)
  }
  return { ...conversation, leave }
}

function usePlace(): Place {
  const [place, setPlace] = useState(servedPlace)
  useListener(window, 'hashchange', () => {
    setPlace(servedPlace())
    scrollTo({ top: 0, behavior: 'instant' })
  })
  return place
}
