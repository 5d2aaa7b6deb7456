import { useEffect, useRef } from 'preact/hooks'

export type Change = { readonly kind: 'documents' | 'projects' } | { readonly kind: 'chat'; readonly sessionId: string }

const channel = new BroadcastChannel('inlay')
const here = new EventTarget()

/** Notifies the rest of the page and the other tabs of a change. */
export function announceChange(change: Change): void {
  channel.postMessage(change)
  here.dispatchEvent(new CustomEvent('change', { detail: change }))
}

export function onChangeElsewhere(listener: (change: Change) => void): () => void {
  const take = ({ data }: MessageEvent<Change>): void => listener(data)
  channel.addEventListener('message', take)
  return () => channel.removeEventListener('message', take)
}

export function onAnyChange(listener: (change: Change) => void): () => void {
  const take = (event: Event): void => {
    if (event instanceof CustomEvent) listener(event.detail)
  }
  here.addEventListener('change', take)
  const end = onChangeElsewhere(listener)
  return () => {
    here.removeEventListener('change', take)
    end()
  }
}

/** Changes within this time are one, in milliseconds: many may be deleted at once. */
const gatherMs = 60

/** Calls a function soon after changes of some kinds, in this tab or others. */
export function useChange(kinds: readonly Change['kind'][], act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = onAnyChange(({ kind }) => {
      if (!kinds.includes(kind)) return
      clearTimeout(timer)
      timer = setTimeout(() => latest.current(), gatherMs)
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [])
}
