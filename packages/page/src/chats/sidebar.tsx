import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { chatAddress, type Place } from '../address.ts'
import { CloseIcon, Mark, PlusIcon, SearchIcon, SidebarIcon, SlidersIcon } from '../controls/icons.tsx'
import { LanguageChoice } from '../controls/language-choice.tsx'
import { useIsCramped } from '../pane/pane-store.ts'
import { shortCount, type Counts } from '../documents/counts.ts'
import type { ChatListing, ListedChat, Service } from '../service/service.ts'
import { onAnyChange } from '../service/tabs.ts'
import { texts } from '../texts/texts.ts'

interface SidebarProps {
  readonly service: Pick<Service, 'chats'>
  /** The newest chats when the page was opened. */
  readonly firstChats: ChatListing
  readonly place: Place
  readonly sessionId: string | null
  readonly counts: Counts | undefined
  readonly isNew: boolean
  readonly newChat: () => void
  readonly isAdmin: boolean
}

const storageName = 'inlay-sidebar'

/** The way through the page: beside it on a wide screen, where it folds, above it on a narrow one. */
export function Sidebar({
  service,
  firstChats,
  place,
  sessionId,
  counts,
  isNew,
  newChat,
  isAdmin,
}: SidebarProps): JSX.Element {
  const chats = useRecentChats(service, firstChats)
  const [wantsFolded, setIsFolded] = useState(readFolded)
  const isCramped = useIsCramped()
  const isFolded = wantsFolded || isCramped
  const chatHash = chatAddress(sessionId)
  useEffect(() => {
    document.documentElement.dataset.sidebar = isFolded ? 'folded' : 'open'
    writeFolded(wantsFolded)
  }, [isFolded, wantsFolded])
  return (
    <header class="top">
      <Drawer chats={chats} place={place} sessionId={sessionId} isAdmin={isAdmin} />
      <div class="top-head">
        <a class="brand" href={chatHash} aria-label={texts.frame.home}>
          <Mark />
          <span>Inlay</span>
        </a>
        <button
          type="button"
          class="icon-button fold-sidebar"
          aria-label={isFolded ? texts.frame.showSidebar : texts.frame.foldSidebar}
          aria-expanded={!isFolded}
          title={isFolded ? texts.frame.showSidebar : texts.frame.foldSidebar}
          onClick={() => setIsFolded(!isFolded)}
        >
          <SidebarIcon />
        </button>
      </div>
      <button
        type="button"
        class={isNew ? 'quiet-button new-chat gone' : 'quiet-button new-chat'}
        aria-label={texts.frame.newChat}
        onClick={newChat}
      >
        <PlusIcon />
        <span>{texts.frame.newChat}</span>
      </button>
      <nav class="views" aria-label={texts.frame.views}>
        <a href={chatHash} aria-current={place.view === 'chat' ? 'page' : undefined}>
          {texts.frame.ask}
        </a>
        <a href="#chats" aria-current={place.view === 'chats' ? 'page' : undefined}>
          {texts.frame.chats}
        </a>
        <a class="wide-only" href="#search" aria-current={place.view === 'search' ? 'page' : undefined}>
          {texts.frame.search}
        </a>
        <a href="#documents" aria-current={place.view === 'documents' ? 'page' : undefined}>
          {texts.frame.documents}
          {counts !== undefined && <span class="count">{shortCount(counts.total)}</span>}
        </a>
      </nav>
      {/* The view of all chats lists them too, and can change them. */}
      {place.view !== 'chats' && <RecentChats chats={chats} place={place} sessionId={sessionId} />}
      {isAdmin && <AdminLink place={place} />}
      <LanguageChoice />
    </header>
  )
}

/** Chats by day, the newest first. */
function RecentChats({ chats, place, sessionId }: RecentChatsProps): JSX.Element | null {
  if (chats.length === 0) return null
  return (
    <nav class="recent" aria-label={texts.frame.recentChats}>
      {byDay(chats).map(([day, listed]) => (
        <section key={day}>
          <h2>{day}</h2>
          <ul>
            {listed.map(({ id, name }) => (
              <li key={id}>
                <a
                  href={chatAddress(id)}
                  aria-current={place.view === 'chat' && id === sessionId ? 'page' : undefined}
                  title={name}
                  dir="auto"
                >
                  {name === '' ? texts.frame.newChat : name}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

interface RecentChatsProps extends Pick<SidebarProps, 'place' | 'sessionId'> {
  readonly chats: readonly ListedChat[]
}

function AdminLink({ place }: Pick<SidebarProps, 'place'>): JSX.Element {
  return (
    <a class="to-admin" href="#admin/models" aria-current={place.view === 'admin' ? 'page' : undefined}>
      <SlidersIcon />
      <span>{texts.frame.administration}</span>
    </a>
  )
}

/** On a narrow screen: chats and what else has no room above the page. */
function Drawer({ chats, place, sessionId, isAdmin }: RecentChatsProps & Pick<SidebarProps, 'isAdmin'>): JSX.Element {
  const [isOpen, setIsOpen] = useState(false)
  const drawer = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) drawer.current?.showModal()
  }, [isOpen])
  useEffect(() => {
    const close = (): void => drawer.current?.close()
    addEventListener('hashchange', close)
    return () => removeEventListener('hashchange', close)
  }, [])
  return (
    <>
      <button
        type="button"
        class="icon-button open-drawer"
        aria-label={texts.frame.openMenu}
        aria-haspopup="dialog"
        onClick={() => setIsOpen(true)}
      >
        <SidebarIcon />
      </button>
      {isOpen && (
        <dialog
          ref={drawer}
          class="drawer"
          aria-label={texts.frame.menu}
          onClose={() => setIsOpen(false)}
          onClick={(event) => {
            // On its backdrop, or on the address that is shown already.
            if (event.target === drawer.current || (event.target as Element).closest('a') !== null)
              drawer.current?.close()
          }}
        >
          <button
            type="button"
            class="icon-button"
            aria-label={texts.frame.closeMenu}
            onClick={() => drawer.current?.close()}
          >
            <CloseIcon />
          </button>
          <RecentChats chats={chats} place={place} sessionId={sessionId} />
          <a class="to-admin" href="#search" aria-current={place.view === 'search' ? 'page' : undefined}>
            <SearchIcon />
            <span>{texts.frame.search}</span>
          </a>
          {isAdmin && <AdminLink place={place} />}
          <LanguageChoice />
        </dialog>
      )}
    </>
  )
}

/** The newest chats; read again when one has changed, here or in another tab. */
function useRecentChats(service: Pick<Service, 'chats'>, first: ChatListing): readonly ListedChat[] {
  const [chats, setChats] = useState(first.chats)
  useEffect(() => {
    let round = 0
    const read = (): void => {
      const mine = ++round
      service.chats('', null).then(
        (page) => mine === round && setChats(page.chats),
        // The list stays as it was.
        () => {},
      )
    }
    const end = onAnyChange(({ kind }) => kind === 'chat' && read())
    return () => {
      round = Number.POSITIVE_INFINITY
      end()
    }
  }, [service])
  return chats
}

/** Chats by when they were last used, the newest first. */
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
  return [...Map.groupBy(chats, ({ time }) => dayOf(time))]
}

function readFolded(): boolean {
  try {
    return localStorage.getItem(storageName) === 'folded'
  } catch {
    return false
  }
}

function writeFolded(isFolded: boolean): void {
  try {
    localStorage.setItem(storageName, isFolded ? 'folded' : 'open')
  } catch {
    // A browser that keeps nothing shows the sidebar the next time.
  }
}
