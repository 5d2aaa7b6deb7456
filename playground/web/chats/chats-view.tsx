import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { chatAddress } from '../address.ts'
import { useChats, type Chats } from './chats.ts'
import { BinIcon, PenIcon } from '../controls/icons.tsx'
import type { ListedChat, Service } from '../service/service.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { SearchField } from '../controls/search-field.tsx'

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
        <h1 id="chats-title">Chats</h1>
        <p class="lead">What was asked before. A chat goes on where it ended.</p>
      </div>
      <SearchField label="Search chats" words={chats.words} search={chats.search} />
      {chats.failure !== null && <FailureNote failure={chats.failure} />}
      {chats.all !== undefined && <ChatList all={chats.all} chats={chats} removed={removed} />}
      {chats.hasMore && (
        <button type="button" class="quiet-button" onClick={chats.showMore}>
          Show more
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
    return <p class="nothing">{chats.words.trim() === '' ? 'Nothing was asked yet.' : 'No chat holds these words.'}</p>
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
  const name = chat.name === '' ? 'New chat' : chat.name
  if (phase === 'naming')
    return <Naming name={chat.name} save={(given) => chats.rename(chat.id, given)} end={() => setPhase('shown')} />
  return (
    <li class="document chat-row">
      <a class="document-name" href={chatAddress(chat.id)}>
        {name}
      </a>
      <span class="state">{dayOf(chat.time)}</span>
      {phase === 'asking' ? (
        <span class="confirm" role="group" aria-label={`Delete ${name}?`}>
          <button
            type="button"
            class="danger-button"
            ref={(button) => button?.focus()}
            onClick={() => {
              chats.remove(chat.id)
              removed(chat.id)
            }}
          >
            Delete
          </button>
          <button type="button" class="quiet-button" onClick={() => setPhase('shown')}>
            Keep
          </button>
        </span>
      ) : (
        <span class="row-buttons">
          <button
            type="button"
            class="icon-button"
            aria-label={`Rename ${name}`}
            title="Rename"
            onClick={() => setPhase('naming')}
          >
            <PenIcon />
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label={`Delete ${name}`}
            title="Delete"
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
          Name of the chat
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
          Save
        </button>
        <button type="button" class="quiet-button" onClick={end}>
          Cancel
        </button>
      </form>
    </li>
  )
}

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const hours = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

/** The hour of today, the day of any other. */
function dayOf(time: string): string {
  const date = new Date(time)
  return date.toDateString() === new Date().toDateString() ? hours.format(date) : days.format(date)
}
