import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'

interface ConfirmButtonsProps {
  readonly confirm: () => void
  readonly keep: () => void
  readonly disabled?: boolean
  /** Default: "Delete". */
  readonly children?: ComponentChildren
}

/**
 * Confirms a question that just appeared, or keeps what is asked about. It takes the focus once: taken again whenever the
 * page is redrawn, the next key that somebody types elsewhere would press it. Taken before the browser draws: a key that is
 * pressed at once would otherwise reach what asked the question.
 */
export function ConfirmButtons({ confirm, keep, disabled = false, children }: ConfirmButtonsProps) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => button.current?.focus(), [])
  return (
    <>
      <button ref={button} type="button" class="danger-button" disabled={disabled} onClick={confirm}>
        {children ?? texts.frame.delete}
      </button>
      <Button onClick={keep}>{texts.frame.keep}</Button>
    </>
  )
}
