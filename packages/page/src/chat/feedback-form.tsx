import { useEffect, useRef, useState } from 'preact/hooks'
import { onEscape } from '../controls/on-escape.ts'
import type { FeedbackReason } from '@inlay/client/conversation'
import { texts } from '../texts/texts.ts'
import { Button } from '../controls/button.tsx'

interface FeedbackFormProps {
  readonly isGood: boolean
  readonly send: (reason: FeedbackReason) => void
  readonly close: () => void
}

/** Asks why an answer is good or bad; may be left alone, the rating itself is stored already. */
export function FeedbackForm({ isGood, send, close }: FeedbackFormProps) {
  const { goodReasons, badReasons, whatWasGood, whatWasBad, moreWords, sendReason } = texts.chat
  const [offered, setOffered] = useState<string | null>(null)
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('button')?.focus({ preventScroll: true }), [])
  const isEmpty = offered === null && text.trim() === ''
  const question = isGood ? whatWasGood : whatWasBad
  return (
    <form
      ref={form}
      class="feedback u-grid u-gap-10 u-small u-card"
      aria-label={question}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isEmpty) send({ ...(offered !== null && { offered }), ...(text.trim() !== '' && { text: text.trim() }) })
      }}
      onKeyDown={onEscape(close)}
    >
      <p>{question}</p>
      <div class="row u-wrap">
        {(isGood ? goodReasons : badReasons).map((reason) => (
          <button
            key={reason}
            type="button"
            class="choice u-no-ground"
            aria-pressed={offered === reason}
            onClick={() => setOffered(offered === reason ? null : reason)}
          >
            {reason}
          </button>
        ))}
      </div>
      <textarea
        aria-label={moreWords}
        placeholder={moreWords}
        rows={1}
        maxLength={4000}
        dir="auto"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="row u-wrap">
        <button type="submit" class="button" disabled={isEmpty}>
          {sendReason}
        </button>
        <Button onClick={close}>{texts.frame.close}</Button>
      </div>
    </form>
  )
}
