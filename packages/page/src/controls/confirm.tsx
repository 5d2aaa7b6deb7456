import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { onEscape } from './on-escape.ts'

interface ConfirmProps {
  readonly question: string
  readonly confirm: () => void
  readonly keep: () => void
  readonly class?: string
  readonly disabled?: boolean
  /** Default: "Delete". */
  readonly words?: string
  readonly children?: ComponentChildren
}

/**
 * Confirms a question that just appeared, or keeps what is asked about. It takes the focus once: taken again whenever the
 * page is redrawn, the next key that somebody types elsewhere would press it. Taken before the browser draws: a key that is
 * pressed at once would otherwise reach what asked the question.
 */
export function Confirm({ question, confirm, keep, class: name = '', disabled, words, children }: ConfirmProps) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => button.current?.focus(), [])
  return (
    <span class={`confirm u-flex u-gap-6 ${name}`} role="group" aria-label={question} onKeyDown={onEscape(keep)}>
      {children}
      <button ref={button} type="button" class="danger-button" disabled={disabled} onClick={confirm}>
        {words ?? texts.frame.delete}
      </button>
      <Button onClick={keep}>{texts.frame.keep}</Button>
    </span>
  )
}
