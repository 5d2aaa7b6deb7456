/** What has changed at the service: its documents, or a conversation. */
export type Change = { readonly kind: 'documents' } | { readonly kind: 'chat'; readonly sessionId: string }

const channel = new BroadcastChannel('inlay')

/** Lets the other tabs of this browser know of a change. */
export function announceChange(change: Change): void {
  channel.postMessage(change)
}

/** Calls a function for each change made in other tabs. @returns what ends it */
export function onChangeElsewhere(listener: (change: Change) => void): () => void {
  const take = ({ data }: MessageEvent<Change>): void => listener(data)
  channel.addEventListener('message', take)
  return () => channel.removeEventListener('message', take)
}
