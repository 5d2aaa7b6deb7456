import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CloseIcon } from '../controls/icons.tsx'
import { texts } from '../texts/texts.ts'

interface UndoNoteProps {
  readonly message: string
  readonly undo: () => void
  readonly close: () => void
}

/** How long it is shown while nobody points at it or has the focus in it, in milliseconds. */
const shownMs = 10_000

/** Offers for a while to take back what was just done. */
export function UndoNote({ message, undo, close }: UndoNoteProps): JSX.Element {
  const [isHeld, setIsHeld] = useState(false)
  useEffect(() => {
    if (isHeld) return undefined
    const timer = setTimeout(close, shownMs)
    return () => clearTimeout(timer)
  }, [isHeld, message])
  return (
    <div
      class="undo-note"
      role="status"
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
      onFocusIn={() => setIsHeld(true)}
      onFocusOut={() => setIsHeld(false)}
    >
      <span>{message}</span>
      <button type="button" class="text-button" onClick={undo}>
        {texts.frame.undo}
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={texts.frame.close}
        title={texts.frame.close}
        onClick={close}
      >
        <CloseIcon />
      </button>
    </div>
  )
}
