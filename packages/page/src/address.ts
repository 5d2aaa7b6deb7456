/** What the address of the page names, behind its `#`, so that reload and the browser's back button work. */
export type Place =
  /** `sessionId` is null for a chat that has not begun. */
  | { readonly view: 'chat'; readonly sessionId: string | null }
  /** A chat of somebody else, to be read. */
  | { readonly view: 'shared'; readonly sessionId: string }
  | { readonly view: 'chats' | 'documents' | 'search' }
  | { readonly view: 'admin'; readonly section: AdminSection }

export const adminSections = ['models', 'keys', 'agents', 'actions', 'usage', 'audit', 'packets'] as const
export type AdminSection = (typeof adminSections)[number]

/** Reads the part of an address behind `#`; what is not known is a new chat. */
export function placeOf(hash: string): Place {
  const name = hash.replace(/^#/, '')
  if (name === 'chats' || name === 'documents' || name === 'search') return { view: name }
  const sharedId = /^shared\/([\da-f-]{36})$/.exec(name)?.[1]
  if (sharedId !== undefined) return { view: 'shared', sessionId: sharedId }
  if (/^admin(\/|$)/.test(name)) {
    const section = adminSections.find((known) => name === `admin/${known}`)
    return { view: 'admin', section: section ?? 'models' }
  }
  const sessionId = /^chat\/([\da-f-]{36})$/.exec(name)?.[1] ?? null
  return { view: 'chat', sessionId }
}

/** The address of a conversation. */
export function chatAddress(sessionId: string | null): string {
  return sessionId === null ? '#' : `#chat/${sessionId}`
}

/** The address at which others read a conversation. */
export function sharedAddress(sessionId: string): string {
  return `#shared/${sessionId}`
}
