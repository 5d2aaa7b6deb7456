/** What the address of the page names, behind its `#`, so that reload and the browser's back button work. */
export type Place =
  /** `sessionId` is null for a chat that has not begun. */
  { readonly view: 'chat'; readonly sessionId: string | null } | { readonly view: 'chats' | 'documents' }

/** Reads the part of an address behind `#`; what is not known is a new chat. */
export function placeOf(hash: string): Place {
  const name = hash.replace(/^#/, '')
  if (name === 'chats' || name === 'documents') return { view: name }
  const sessionId = /^chat\/([\da-f-]{36})$/.exec(name)?.[1] ?? null
  return { view: 'chat', sessionId }
}

/** The address of a conversation. */
export function chatAddress(sessionId: string | null): string {
  return sessionId === null ? '#' : `#chat/${sessionId}`
}
