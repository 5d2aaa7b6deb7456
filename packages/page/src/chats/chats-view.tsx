import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { chatAddress } from '../address.ts'
import { useChats, type Chats } from './chats.ts'
import { BinIcon, PenIcon } from '../controls/icons.tsx'
import type { ListedChat, Service } from '../service/service.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { SearchField } from '../controls/search-field.tsx'
import { formatDay, formatHour } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

interface ChatsViewProps {
  readonly service: Service
  /** Told when a conversation is gone. */
  readonly removed: (sessionId: string) => void
}

/** All conversations, to go on with, name anew or delete. */
export function ChatsView({ service, removed }: ChatsViewProps): JSX.Element {
  const chats = useChats(service)
  return (
    <section class="documents" aria-labelledby="chats-title">
      <div class="documents-head">
        <h1 id="chats-title">{texts.chats.title}</h1>
        <p class="lead">{texts.chats.lead}</p>
      </div>
      <SearchField label={texts.chats.search} words={chats.words} search={chats.search} />
      {chats.failure !== null && <FailureNote failure={chats.failure} />}
      {chats.all !== undefined && <ChatList all={chats.all} chats={chats} removed={removed} />}
      {chats.hasMore && (
        <button type="button" class="quiet-button" onClick={chats.showMore}>
          {texts.frame.showMore}
        </button>
      )}
    </section>
  )
}

function ChatList({
  all,
  chats,
  removed,
}: Pick<ChatsViewProps, 'removed'> & { all: readonly ListedChat[]; chats: Chats }): JSX.Element {
  if (all.length === 0)
    return <p class="nothing">{chats.words.trim() === '' ? texts.chats.none : texts.chats.noneFound}</p>
  return (
    <ul class="document-list">
      {all.map((chat) => (
        <ChatRow key={chat.id} chat={chat} chats={chats} removed={removed} />
      ))}
    </ul>
  )
}

function ChatRow({
  chat,
  chats,
  removed,
}: Pick<ChatsViewProps, 'removed'> & { chat: ListedChat; chats: Chats }): JSX.Element {
  const [phase, setPhase] = useState<'shown' | 'naming' | 'asking'>('shown')
  const name = chat.name === '' ? texts.frame.newChat : chat.name
  if (phase === 'naming')
    return <Naming name={chat.name} save={(given) => chats.rename(chat.id, given)} end={() => setPhase('shown')} />
  return (
    <li class="document chat-row">
      <a class="document-name" href={chatAddress(chat.id)}>
        {name}
      </a>
      <span class="state">{dayOf(chat.time)}</span>
      {phase === 'asking' ? (
        <span class="confirm" role="group" aria-label={texts.chats.askDelete(name)}>
          <button
            type="button"
            class="danger-button"
            ref={(button) => button?.focus()}
            onClick={() => {
              chats.remove(chat.id)
              removed(chat.id)
            }}
          >
            {texts.frame.delete}
          </button>
          <button type="button" class="quiet-button" onClick={() => setPhase('shown')}>
            {texts.frame.keep}
          </button>
        </span>
      ) : (
        <span class="row-buttons">
          <button
            type="button"
            class="icon-button"
            aria-label={texts.chats.renameThing(name)}
            title={texts.chats.rename}
            onClick={() => setPhase('naming')}
          >
            <PenIcon />
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label={texts.frame.deleteThing(name)}
            title={texts.frame.delete}
            onClick={() => setPhase('asking')}
          >
            <BinIcon />
          </button>
        </span>
      )}
    </li>
  )
}

function Naming({ name, save, end }: { name: string; save: (name: string) => void; end: () => void }): JSX.Element {
  const [given, setGiven] = useState(name)
  return (
    <li class="document chat-row">
      <form
        class="row naming"
        onSubmit={(event) => {
          event.preventDefault()
          if (given.trim() !== '') save(given.trim())
          end()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') end()
        }}
      >
        <label class="visually-hidden" for="chat-name">
          {texts.chats.name}
        </label>
        <input
          id="chat-name"
          type="text"
          maxLength={200}
          value={given}
          ref={(field) => {
            if (field !== null && document.activeElement === document.body) field.select()
          }}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
        <button type="submit" class="button">
          {texts.frame.save}
        </button>
        <button type="button" class="quiet-button" onClick={end}>
          {texts.frame.cancel}
        </button>
      </form>
    </li>
  )
}

/** The hour of today, the day of any other. */
function dayOf(time: string): string {
  const date = new Date(time)
  return date.toDateString() === new Date().toDateString() ? formatHour(date) : formatDay(date)
}
