import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface ConfirmButtonProps {
  readonly confirm: () => void
  readonly disabled?: boolean
  readonly children: ComponentChildren
}

/**
 * Confirms a question that just appeared. It takes the focus once: taken again whenever the page is redrawn, the next
 * key that somebody types elsewhere would press it. Taken before the browser draws: a key that is pressed at once would
 * otherwise reach what asked the question.
 */
export function ConfirmButton({ confirm, disabled = false, children }: ConfirmButtonProps): JSX.Element {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => button.current?.focus(), [])
  return (
    <button ref={button} type="button" class="danger-button" disabled={disabled} onClick={confirm}>
      {children}
    </button>
  )
}
