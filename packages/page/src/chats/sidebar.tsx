import { useEffect, useRef, useState } from 'preact/hooks'
import { chatAddress, isServed, type Place } from '../address.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon, Mark } from '../controls/icons.tsx'
import { Marked } from '../controls/marked.tsx'
import { SearchField } from '../controls/search-field.tsx'
import { LanguageChoice } from '../controls/language-choice.tsx'
import { useListener } from '../controls/use-listener.ts'
import { typingMs, useLoaded } from '../controls/use-loaded.ts'
import { useIsCramped } from '../pane/pane-store.ts'
import { totalOf, type Counts } from '../service/counts.ts'
import { ProjectList } from '../projects/project-list.tsx'
import { ProjectMark } from '../projects/project-mark.tsx'
import type { Projects } from '../projects/projects.ts'
import { ChatHit } from './chat-hit.tsx'
import type { ChatListing, ListedChat, Service } from '../service/service.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import { keep, readKept } from '../kept.ts'
import { announceChange, useChange } from '../service/tabs.ts'
import { formatCompact } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

interface SidebarProps {
  readonly service: Pick<Service, 'chats' | 'setPinned'>
  readonly firstChats: ChatListing
  readonly place: Place
  readonly sessionId: string | null
  readonly counts: Counts | undefined
  readonly isNew: boolean
  readonly newChat: () => void
  readonly projects: Projects
  readonly isAdmin: boolean
}

const storageName = 'inlay-sidebar'

export function Sidebar(props: SidebarProps) {
  const { service, firstChats, place, sessionId, counts, isNew, newChat, isAdmin } = props
  const chats = useRecentChats(service, firstChats)
  const [wantsFolded, setIsFolded] = useState(() => readKept(storageName) === 'folded')
  const isCramped = useIsCramped()
  const isFolded = wantsFolded || isCramped
  const chatHash = chatAddress(sessionId)
  useEffect(() => {
    document.documentElement.dataset.sidebar = isFolded ? 'folded' : 'open'
    keep(storageName, wantsFolded ? 'folded' : 'open')
  }, [isFolded, wantsFolded])
  return (
    <header class="top u-row u-sticky u-ground">
      <Drawer {...props} chats={chats} />
      <div class="top-head">
        <a class="brand u-row u-gap-10 u-text" href={chatHash} aria-label={texts.frame.home}>
          <Mark />
          <span>Inlay</span>
        </a>
        <IconButton
          icon="sidebar"
          class="fold-sidebar"
          label={isFolded ? texts.frame.showSidebar : texts.frame.foldSidebar}
          aria-expanded={!isFolded}
          onClick={() => setIsFolded(!isFolded)}
        />
      </div>
      <button
        type="button"
        class={isNew ? 'quiet-button new-chat gone u-at-end' : 'quiet-button new-chat u-at-end'}
        aria-label={texts.frame.newChat}
        hidden={!isServed('chat')}
        onClick={newChat}
      >
        <Icon name="plus" />
        <span>{texts.frame.newChat}</span>
      </button>
      <nav class="views u-flex u-gap-4" aria-label={texts.frame.views}>
        {(['chat', 'chats', 'search', 'documents'] as const).filter(isServed).map((view) => (
          <a
            key={view}
            class={view === 'search' ? 'wide-only' : undefined}
            href={view === 'chat' ? chatHash : `#${view}`}
            aria-current={place.view === view ? 'page' : undefined}
          >
            {view === 'chat' ? texts.frame.ask : texts.frame[view]}
            {view === 'documents' && counts !== undefined && (
              <span class="count">{formatCompact(totalOf(counts))}</span>
            )}
          </a>
        ))}
      </nav>
      {/* The view of all chats lists them too, and can change them. */}
      <RecentChats {...props} chats={place.view === 'chats' ? [] : chats} />
      {isAdmin && <AdminLink place={place} />}
      <LanguageChoice />
    </header>
  )
}

function RecentChats({ service, chats, place, sessionId, projects }: RecentChatsProps) {
  const [words, setWords] = useState('')
  const hits = useFoundChats(service, words)
  const [failure, setFailure] = useState<Failure | null>(null)
  const pin = (id: string, isPinned: boolean): void => {
    service.setPinned(id, isPinned).then(
      () => {
        setFailure(null)
        announceChange({ kind: 'chat', sessionId: id })
      },
      (error: unknown) => setFailure(toFailure(error)),
    )
  }
  const isCurrent = (id: string): boolean => place.view === 'chat' && id === sessionId
  const list = (listed: readonly ListedChat[]) => (
    <ul>
      {listed.map((chat) => (
        <RecentChat
          key={chat.id}
          chat={chat}
          words={words}
          projects={projects}
          isCurrent={isCurrent(chat.id)}
          pin={pin}
        />
      ))}
    </ul>
  )
  return (
    <div class="recent u-grow u-scroll" hidden={!isServed('chats')}>
      {/* Above the projects, which give way to what is found: the field stays in its place while somebody types. */}
      {chats.length > 0 && <SearchField label={texts.chats.search} words={words} search={setWords} />}
      {/* Without the field nobody sees what is searched. */}
      {(words === '' || chats.length === 0) && <ProjectList projects={projects} place={place} />}
      {chats.length > 0 && (
        <nav aria-label={texts.frame.recentChats}>
          {failure !== null && <FailureNote failure={failure} />}
          {hits === undefined ? (
            byDay(chats).map(([day, listed]) => (
              <section key={day}>
                <h2 class="u-muted u-tiny u-bold">{day}</h2>
                {list(listed)}
              </section>
            ))
          ) : 'message' in hits ? (
            <FailureNote failure={hits} />
          ) : hits.length === 0 ? (
            <p class="nothing u-muted u-small" role="status">
              {texts.chats.noneFound}
            </p>
          ) : (
            list(hits)
          )}
        </nav>
      )}
    </div>
  )
}

interface RecentChatProps {
  readonly chat: ListedChat
  /** The query; "" highlights nothing. */
  readonly words: string
  readonly projects: Projects
  readonly isCurrent: boolean
  readonly pin: (id: string, isPinned: boolean) => void
}

function RecentChat({ chat, words, projects, isCurrent, pin }: RecentChatProps) {
  const { id, isPinned, match } = chat
  const name = chat.name === '' ? texts.frame.newChat : chat.name
  const label = isPinned ? texts.chats.unpinThing(name) : texts.chats.pinThing(name)
  return (
    <li class="u-relative">
      <a
        class="u-block u-text u-ellipsis"
        href={chatAddress(id, match?.messageId)}
        aria-current={isCurrent ? 'page' : undefined}
        title={match === undefined ? name : undefined}
        dir="auto"
      >
        {words.trim() === '' ? name : <Marked text={name} query={words} />}
        <ChatHit chat={chat} words={words} />
        {words.trim() !== '' && <ProjectMark projects={projects} sessionId={id} />}
      </a>
      <IconButton
        icon={isPinned ? 'unpin' : 'pin'}
        class="pin"
        label={label}
        title={isPinned ? texts.chats.unpin : texts.chats.pin}
        onClick={() => pin(id, !isPinned)}
      />
    </li>
  )
}

/** Chats that hold the words; undefined without words, and until the first answer. */
function useFoundChats(service: Pick<Service, 'chats'>, words: string): readonly ListedChat[] | Failure | undefined {
  const wanted = words.trim()
  const found = useLoaded(
    async () => (wanted === '' ? undefined : (await service.chats(wanted, null)).chats),
    [service, wanted],
    { delayMs: wanted === '' ? 0 : typingMs },
  )
  useChange(['chat'], () => void found.reload())
  return wanted === '' ? undefined : (found.failure ?? found.value)
}

interface RecentChatsProps extends Pick<SidebarProps, 'service' | 'place' | 'sessionId' | 'projects'> {
  readonly chats: readonly ListedChat[]
}

function AdminLink({ place }: Pick<SidebarProps, 'place'>) {
  return (
    <a
      class="to-admin u-center u-gap-8 u-muted u-medium u-round-10 u-as-tall u-beside-12 u-inline-flex"
      href="#admin/models"
      aria-current={place.view === 'admin' || place.view === 'health' ? 'page' : undefined}
    >
      <Icon name="sliders" />
      <span>{texts.frame.administration}</span>
    </a>
  )
}

/** On a narrow screen: the chats, and everything else without room at the top of the page. */
function Drawer(props: RecentChatsProps & Pick<SidebarProps, 'isAdmin'>) {
  const { place, isAdmin } = props
  const [isOpen, setIsOpen] = useState(false)
  const drawer = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) drawer.current?.showModal()
  }, [isOpen])
  useListener(window, 'hashchange', () => drawer.current?.close())
  return (
    <>
      <IconButton
        icon="sidebar"
        class="open-drawer u-flex-none"
        label={texts.frame.openMenu}
        aria-haspopup="dialog"
        onClick={() => setIsOpen(true)}
      />
      {isOpen && (
        <dialog
          ref={drawer}
          class="drawer u-gap-4 u-text u-no-border"
          aria-label={texts.frame.menu}
          onClose={() => setIsOpen(false)}
          onClick={(event) => {
            // On its backdrop, or on the address that is shown already.
            if (event.target === drawer.current || (event.target as Element).closest('a') !== null)
              drawer.current?.close()
          }}
        >
          <IconButton icon="close" label={texts.frame.closeMenu} onClick={() => drawer.current?.close()} />
          <RecentChats {...props} />
          <a
            class="to-admin u-center u-gap-8 u-muted u-medium u-round-10 u-as-tall u-beside-12 u-inline-flex"
            href="#search"
            aria-current={place.view === 'search' ? 'page' : undefined}
          >
            <Icon name="search" />
            <span>{texts.frame.search}</span>
          </a>
          {isAdmin && <AdminLink place={place} />}
          <LanguageChoice />
        </dialog>
      )}
    </>
  )
}

function useRecentChats(service: Pick<Service, 'chats'>, first: ChatListing): readonly ListedChat[] {
  const read = async (): Promise<readonly ListedChat[]> => (await service.chats('', null)).chats
  const { value = [], reload } = useLoaded(read, [service], { first: first.chats })
  useChange(['chat'], () => void reload())
  return value
}

/** Pinned chats, then the others by when they were last used, the newest first. */
export function byDay(
  chats: readonly ListedChat[],
  now: Date = new Date(),
): readonly (readonly [day: string, chats: readonly ListedChat[]])[] {
  const { today, yesterday, lastWeek, lastMonth, older } = texts.frame
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const dayOf = (time: string): string => {
    const days = Math.ceil((midnight - Date.parse(time)) / 86_400_000)
    if (days <= 0) return today
    if (days === 1) return yesterday
    if (days <= 7) return lastWeek
    return days <= 30 ? lastMonth : older
  }
  return [...Map.groupBy(chats, ({ time, isPinned }) => (isPinned ? texts.chats.pinned : dayOf(time)))]
}
