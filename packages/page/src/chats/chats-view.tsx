import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { chatAddress } from '../address.ts'
import { Button } from '../controls/button.tsx'
import { ChatHit } from './chat-hit.tsx'
import { useChats, type Chats } from './chats.ts'
import { Confirm } from '../controls/confirm.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon, type IconName } from '../controls/icons.tsx'
import { NamingForm } from '../controls/naming-form.tsx'
import { ProjectChoice } from '../projects/project-choice.tsx'
import { ProjectMark } from '../projects/project-mark.tsx'
import type { Projects } from '../projects/projects.ts'
import type { ListedChat, Service } from '../service/service.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { Marked } from '../controls/marked.tsx'
import { SearchField } from '../controls/search-field.tsx'
import { formatDay, formatHour } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'
import { UndoNote } from './undo-note.tsx'

interface ChatsViewProps {
  readonly service: Service
  readonly projects: Projects
  readonly removed: (sessionId: string) => void
}

export function ChatsView({ service, projects, removed }: ChatsViewProps) {
  const chats = useChats(service, removed)
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null)
  const { all } = chats
  return (
    <section class="documents u-view" aria-labelledby="chats-title">
      <div class="documents-head">
        <h1 id="chats-title">{texts.frame.chats}</h1>
        <p class="lead">{texts.chats.lead}</p>
      </div>
      <div class="chats-tools u-row u-gap-10">
        <SearchField label={texts.chats.search} words={chats.words} search={chats.search} />
        {all !== undefined && all.length > 0 && selected === null && (
          <Button onClick={() => setSelected(new Set())}>{texts.chats.select}</Button>
        )}
      </div>
      {all !== undefined && all.length > 0 && selected !== null && (
        <Selection chats={chats} all={all} ids={selected} select={setSelected} />
      )}
      {chats.failure !== null && <FailureNote failure={chats.failure} />}
      {all !== undefined && (
        <ChatList all={all} chats={chats} projects={projects} selected={selected} select={setSelected} />
      )}
      {chats.hasMore && <Button onClick={chats.showMore}>{texts.frame.showMore}</Button>}
      {chats.removed.length > 0 && (
        <UndoNote
          key={chats.removed[0]?.id}
          message={texts.chats.deleted(chats.removed.length)}
          undo={chats.undo}
          close={chats.forget}
        />
      )}
    </section>
  )
}

interface SelectionProps {
  readonly chats: Chats
  readonly all: readonly ListedChat[]
  readonly ids: ReadonlySet<string>
  /** Null ends it. */
  readonly select: (ids: ReadonlySet<string> | null) => void
}

function Selection({ chats, all, ids, select }: SelectionProps) {
  const everything = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => everything.current?.focus(), [])
  // Ignores selected chats that another tab has deleted or a search hides.
  const chosen = all.filter(({ id }) => ids.has(id))
  return (
    <div class="selection u-row u-wrap u-gap-8" role="group" aria-label={texts.chats.select}>
      <label class="select-all u-flex u-center u-gap-10 u-as-tall">
        <input
          class="u-flex-none"
          type="checkbox"
          ref={everything}
          checked={chosen.length === all.length}
          indeterminate={chosen.length > 0 && chosen.length < all.length}
          onChange={({ currentTarget }) => select(new Set(currentTarget.checked ? all.map(({ id }) => id) : []))}
        />
        {texts.chats.selectAll}
      </label>
      <Button
        kind="danger"
        class="u-at-end"
        disabled={chosen.length === 0}
        onClick={() => {
          chats.remove(chosen)
          select(null)
        }}
      >
        {texts.chats.deleteSelected(chosen.length)}
      </Button>
      <Button onClick={() => select(null)}>{texts.chats.done}</Button>
    </div>
  )
}

interface ChatListProps {
  readonly all: readonly ListedChat[]
  readonly chats: Chats
  readonly projects: Projects
  readonly selected: ReadonlySet<string> | null
  readonly select: (ids: ReadonlySet<string>) => void
}

function ChatList({ all, chats, projects, selected, select }: ChatListProps) {
  if (all.length === 0)
    return <p class="nothing u-muted">{chats.words.trim() === '' ? texts.chats.none : texts.chats.noneFound}</p>
  return (
    <ul class="document-list">
      {all.map((chat) => (
        <ChatRow
          key={chat.id}
          chat={chat}
          chats={chats}
          projects={projects}
          isSelected={selected === null ? null : selected.has(chat.id)}
          toggle={() => select(selected?.has(chat.id) ? without(selected, chat.id) : new Set(selected).add(chat.id))}
        />
      ))}
    </ul>
  )
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const left = new Set(ids)
  left.delete(id)
  return left
}

interface ChatRowProps {
  readonly chat: ListedChat
  readonly chats: Chats
  readonly projects: Projects
  /** Null while nothing can be selected. */
  readonly isSelected: boolean | null
  readonly toggle: () => void
}

function ChatRow({ chat, chats, projects, isSelected, toggle }: ChatRowProps) {
  const [phase, setPhase] = useState<'shown' | 'naming' | 'asking'>('shown')
  const name = chat.name === '' ? texts.frame.newChat : chat.name
  const day = dayOf(chat.time)
  const words = chats.words.trim()
  if (isSelected !== null)
    return (
      <li class="document chat-row u-grid u-center u-line-below">
        <label class="select-chat u-medium u-anywhere u-flex u-center u-gap-10 u-as-tall">
          <input
            class="u-flex-none"
            type="checkbox"
            aria-label={texts.chats.selectThing(name)}
            checked={isSelected}
            onChange={toggle}
          />
          <span dir="auto">{name}</span>
        </label>
        <span class="state u-inline-flex u-center u-gap-8 u-note">{day}</span>
      </li>
    )
  if (phase === 'naming')
    return (
      <li class="document chat-row u-grid u-center u-line-below">
        <NamingForm
          name={name}
          label={texts.chats.name}
          maxLength={200}
          save={(given) => chats.rename(chat.id, given)}
          end={() => setPhase('shown')}
        />
      </li>
    )
  return (
    <li class="document chat-row u-grid u-center u-line-below">
      <a class="document-name u-medium u-anywhere" href={chatAddress(chat.id, chat.match?.messageId)} dir="auto">
        {words === '' ? name : <Marked text={name} query={words} />}
        <ChatHit chat={chat} words={words} />
        <ProjectMark projects={projects} sessionId={chat.id} />
      </a>
      <span class="state u-inline-flex u-center u-gap-8 u-note">
        {chat.isPinned && <Icon name="pin" />}
        {chat.isPinned && <span class="visually-hidden">{texts.chats.pinned}</span>}
        {day}
      </span>
      {phase === 'asking' ? (
        <Confirm
          question={texts.chats.askDelete(name)}
          keep={() => setPhase('shown')}
          confirm={() => {
            // If deleting fails, it is listed again.
            setPhase('shown')
            chats.remove([chat])
          }}
        />
      ) : (
        <RowButtons
          name={name}
          isPinned={chat.isPinned}
          pin={() => chats.pin(chat.id, !chat.isPinned)}
          move={
            <ProjectChoice
              projects={projects}
              sessionId={chat.id}
              label={texts.projects.moveThing(name)}
              failed={chats.failed}
            />
          }
          rename={() => setPhase('naming')}
          askDelete={() => setPhase('asking')}
        />
      )}
    </li>
  )
}

interface RowButtonsProps {
  readonly name: string
  readonly isPinned: boolean
  readonly pin: () => void
  readonly move: JSX.Element
  readonly rename: () => void
  readonly askDelete: () => void
}

function RowButtons({ name, isPinned, pin, move, rename, askDelete }: RowButtonsProps) {
  const words = texts.chats
  const button = (label: string, title: string, icon: IconName, act: () => void) => (
    <IconButton icon={icon} label={label} title={title} onClick={act} />
  )
  return (
    <span class="row-buttons u-flex u-gap-2">
      {isPinned
        ? button(words.unpinThing(name), words.unpin, 'unpin', pin)
        : button(words.pinThing(name), words.pin, 'pin', pin)}
      {move}
      {button(words.renameThing(name), words.rename, 'pen', rename)}
      {button(texts.frame.deleteThing(name), texts.frame.delete, 'bin', askDelete)}
    </span>
  )
}

function dayOf(time: string): string {
  const date = new Date(time)
  return date.toDateString() === new Date().toDateString() ? formatHour(date) : formatDay(date)
}
