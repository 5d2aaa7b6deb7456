/** A view of the page, as the part of its address after `#`: reload and the back button of the browser keep working. */
export type Place =
  /** `sessionId` is null for a chat that has not begun; `messageId` names the message to begin reading at. */
  | { readonly view: 'chat'; readonly sessionId: string | null; readonly messageId?: number }
  /** A new chat beside a document. */
  | { readonly view: 'chat'; readonly sessionId: null; readonly documentId: string; readonly messageId?: undefined }
  | { readonly view: 'shared'; readonly sessionId: string }
  | { readonly view: 'chats' | 'documents' | 'search' | 'health' }
  | { readonly view: 'project'; readonly projectId: number }
  | { readonly view: 'admin'; readonly section: AdminSection }

export const adminSections = ['models', 'keys', 'agents', 'actions', 'usage', 'audit', 'packets'] as const
export type AdminSection = (typeof adminSections)[number]

/** Views without a chat, and without documents either; the first one opens by itself. */
const servedViews: Readonly<Record<string, readonly (Place['view'] | AdminSection)[]>> = {
  knowledge: ['search', 'documents', 'health', 'admin', 'models', 'keys', 'usage', 'audit'],
  search: ['search', 'admin', 'usage', 'audit'],
}

/** Whether the deployment serves a view, which the root element says since the service was opened. */
export function isServed(view: Place['view'] | AdminSection): boolean {
  return servedViews[document.documentElement.dataset.serves ?? '']?.includes(view) ?? true
}

/** Reads the part of an address behind `#`; what is not known is a new chat. */
export function placeOf(hash: string): Place {
  const name = hash.replace(/^#/, '')
  if (name === 'chats' || name === 'documents' || name === 'search' || name === 'health') return { view: name }
  const documentId = name.startsWith('document?') && new URLSearchParams(name.slice('document?'.length)).get('id')
  if (documentId) return { view: 'chat', sessionId: null, documentId }
  const sharedId = /^shared\/([\da-f-]{36})$/.exec(name)?.[1]
  if (sharedId !== undefined) return { view: 'shared', sessionId: sharedId }
  const projectId = /^project\/(\d{1,10})$/.exec(name)?.[1]
  if (projectId !== undefined) return { view: 'project', projectId: Number(projectId) }
  if (/^admin(\/|$)/.test(name)) {
    const section = adminSections.find((known) => name === `admin/${known}`)
    return { view: 'admin', section: section ?? 'models' }
  }
  const [, sessionId = null, messageId] = /^chat\/([\da-f-]{36})(?:\/(\d{1,15}))?$/.exec(name) ?? []
  return { view: 'chat', sessionId, ...(messageId !== undefined && { messageId: Number(messageId) }) }
}

/** The place of the page's address; in place of one that is not served the search, also beside a document. */
export function servedPlace(): Place {
  const place = placeOf(location.hash)
  return isServed(place.view) ? place : { ...place, view: 'search' }
}

export function chatAddress(sessionId: string | null, messageId?: number): string {
  if (sessionId === null) return '#'
  return messageId === undefined ? `#chat/${sessionId}` : `#chat/${sessionId}/${messageId}`
}

export function sharedAddress(sessionId: string): string {
  return `#shared/${sessionId}`
}

export function projectAddress(projectId: number): string {
  return `#project/${projectId}`
}
