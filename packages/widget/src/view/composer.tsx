import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { InlayChatTexts } from '../texts.ts'
import { Icon } from './icon.tsx'

interface ComposerProps {
  readonly texts: InlayChatTexts
  readonly isAnswering: boolean
  readonly ask: (question: string) => void
  readonly stop: () => void
  /** The input field gets the focus when this number changes. */
  readonly focusCount: number
  readonly takesFocus: boolean
}

export function Composer({ texts, isAnswering, ask, stop, focusCount, takesFocus }: ComposerProps): JSX.Element {
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (takesFocus || focusCount > 0) field.current?.focus()
  }, [focusCount])
  const send = (): void => {
    // Reads the field itself, since it may be ahead of the rendered value.
    const question = field.current?.value ?? ''
    if (question.trim() === '' || isAnswering) return
    ask(question)
    setText('')
  }
  const stopped = (): void => {
    stop()
    field.current?.focus()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={field}
        rows={2}
        aria-label={texts.question}
        placeholder={texts.placeholder}
        value={text}
        enterkeyhint="send"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // During input method composition (Chinese, Japanese, …), Enter selects a candidate.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {isAnswering ? (
        <button type="button" class="send" aria-label={texts.stop} title={texts.stop} onClick={stopped}>
          <Icon path="M8 8h8v8H8z" />
        </button>
      ) : (
        <button type="submit" class="send" aria-label={texts.send} title={texts.send} disabled={text.trim() === ''}>
          <Icon path="M12 19V5M6 11l6-6 6 6" />
        </button>
      )}
    </form>
  )
}
