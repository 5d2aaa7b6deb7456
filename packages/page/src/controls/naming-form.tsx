import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { onEscape } from './on-escape.ts'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'

interface NamingFormProps {
  readonly name: string
  readonly label: string
  readonly maxLength: number
  /** Called with another name, without spaces around it. */
  readonly save: (name: string) => void
  readonly end: () => void
  readonly children?: ComponentChildren
}

export function NamingForm({ name, label, maxLength, save, end, children }: NamingFormProps) {
  const [given, setGiven] = useState(name)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.select(), [])
  return (
    <form
      class="row naming u-all-columns"
      onSubmit={(event) => {
        event.preventDefault()
        if (given.trim() !== '' && given.trim() !== name) save(given.trim())
        end()
      }}
      onKeyDown={onEscape(end)}
    >
      {children}
      <input
        type="text"
        maxLength={maxLength}
        aria-label={label}
        value={given}
        ref={field}
        onInput={(event) => setGiven(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        {texts.frame.save}
      </button>
      <Button onClick={end}>{texts.frame.cancel}</Button>
    </form>
  )
}
