import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { SendIcon, StopIcon } from './icons.tsx'

interface ComposerProps {
  readonly isAnswering: boolean
  readonly isFollowUp: boolean
  readonly ask: (question: string) => void
  readonly stop: () => void
  /** A question to put into the field, and a number that changes with each such request. */
  readonly focusRequest: number
}

/** Where a question is written: Enter sends, Shift+Enter breaks the line. */
export function Composer({ isAnswering, isFollowUp, ask, stop, focusRequest }: ComposerProps): JSX.Element {
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // A phone would cover the page with its keyboard before anything was read.
    if (focusRequest > 0 || matchMedia('(hover: hover)').matches) field.current?.focus({ preventScroll: true })
  }, [focusRequest])

  const send = (): void => {
    const question = text.trim()
    if (question === '' || isAnswering) return
    setText('')
    ask(question)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // While a word is being composed (Chinese, Japanese, …), Enter chooses it.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label class="visually-hidden" for="question">
        Your question
      </label>
      <textarea
        ref={field}
        id="question"
        rows={1}
        maxLength={20_000}
        value={text}
        placeholder={isFollowUp ? 'Ask a follow-up' : 'Ask your documents'}
        enterkeyhint="send"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {isAnswering ? (
        <button type="button" class="send" onClick={stop} aria-label="Stop answering" title="Stop answering">
          <StopIcon />
        </button>
      ) : (
        <button
          type="submit"
          class="send"
          disabled={text.trim() === ''}
          aria-label="Send question"
          title="Send (Enter)"
        >
          <SendIcon />
        </button>
      )}
    </form>
  )
}
