import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Service } from '../service/service.ts'

export interface PaneContent {
  /** The same again is shown in place, without the scrolling of something new. */
  readonly id: string
  readonly title: string
  readonly link?: string | undefined
  /** Draws it; code of its own is loaded when it is called. */
  readonly view: (props: { readonly service: Service }) => JSX.Element
}

let content: PaneContent | null = null
/** Gets the focus back when the pane is closed. */
let cameFrom: Element | null = null
const listeners = new Set<() => void>()

function set(next: PaneContent | null): void {
  content = next
  document.documentElement.dataset.pane = next === null ? 'closed' : 'open'
  for (const listener of listeners) listener()
}

export function openPane(next: PaneContent): void {
  if (content === null) cameFrom = document.activeElement
  set(next)
}

export function closePane(): void {
  if (content === null) return
  set(null)
  if (cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus()
  cameFrom = null
}

export function shownInPane(): PaneContent | null {
  return content
}

export function usePane(): PaneContent | null {
  const [shown, setShown] = useState(content)
  useEffect(() => {
    const look = (): void => setShown(content)
    listeners.add(look)
    look()
    return () => void listeners.delete(look)
  }, [])
  return shown
}

/** Windows up to this width have no room for the sidebar beside an open pane. */
const crampedWidth = '(max-width: 84rem)'

export function useIsCramped(): boolean {
  const isOpen = usePane() !== null
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(crampedWidth).matches)
  useEffect(() => {
    const query = matchMedia(crampedWidth)
    const look = (): void => setIsNarrow(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isOpen && isNarrow
}
