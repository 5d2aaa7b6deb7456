export interface PastChat {
  readonly id: string
  /** Its first question. */
  readonly title: string
}

/**
 * The chats of this browser, newest first. Stored locally, since visitors may share a key and therefore the sessions on
 * the server.
 */
export interface PastChats {
  list(): readonly PastChat[]
  add(id: string, title: string): void
  remove(id: string): void
}

const most = 20

/** @param name key in the browser's storage; undefined stores them only as long as the page is open */
export function createPastChats(name: string | undefined): PastChats {
  let chats: readonly PastChat[] = name === undefined ? [] : read(name)
  const write = (changed: readonly PastChat[]): void => {
    chats = changed
    try {
      if (name !== undefined) localStorage.setItem(name, JSON.stringify(chats))
    } catch {
      // Without storage, chats exist only as long as the page is open.
    }
  }
  const without = (id: string): readonly PastChat[] => chats.filter((chat) => chat.id !== id)
  return {
    list: () => chats,
    add: (id, title) => write([{ id, title: title.slice(0, 80) }, ...without(id)].slice(0, most)),
    remove: (id) => write(without(id)),
  }
}

function read(name: string): readonly PastChat[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(name) ?? '[]')
    return Array.isArray(stored)
      ? stored.filter((chat) => typeof chat?.id === 'string' && typeof chat.title === 'string')
      : []
  } catch {
    return []
  }
}
