import { useEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../controls/icon-button.tsx'
import { texts } from '../texts/texts.ts'
import { Button } from '../controls/button.tsx'

/** How long it is shown while nobody points at it or has the focus in it, in milliseconds. */
const shownMs = 10_000

export function UndoNote({ message, undo, close }: { message: string; undo: () => void; close: () => void }) {
  const [isHeld, setIsHeld] = useState(false)
  const note = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The button that did it may be gone, and the focus with it.
    if (document.activeElement === document.body) note.current?.focus({ preventScroll: true })
  }, [message])
  useEffect(() => {
    if (isHeld) return undefined
    const timer = setTimeout(close, shownMs)
    return () => clearTimeout(timer)
  }, [isHeld, message])
  return (
    <div
      ref={note}
      class="undo-note u-row u-sticky u-line u-surface u-shadow u-round-12"
      tabIndex={-1}
      role="status"
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
      onFocusIn={({ target }) => setIsHeld(target !== note.current)}
      onFocusOut={() => setIsHeld(false)}
    >
      <span>{message}</span>
      <Button kind="text" class="u-bold" onClick={undo}>
        {texts.frame.undo}
      </Button>
      <IconButton icon="close" label={texts.frame.close} onClick={close} />
    </div>
  )
}
