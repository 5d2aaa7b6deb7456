import { useState } from 'preact/hooks'
import { toFailure } from '../service/failure.ts'
import type { TextDocument } from '../service/service.ts'
import { documentTexts } from '../texts/view-texts.ts'
import { texts } from '../texts/texts.ts'
import { typedDocument } from './typed-document.ts'
import { Button } from '../controls/button.tsx'

interface PasteTextProps {
  readonly add: (document: TextDocument) => Promise<void>
  readonly report: (sentence: string) => void
}

export function PasteText({ add, report }: PasteTextProps) {
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const submit = async (): Promise<void> => {
    const document = typedDocument(title, text)
    try {
      await add(document)
      report(documentTexts.textTaken(document.title))
      setTitle('')
      setText('')
      setIsOpen(false)
    } catch (error) {
      report(toFailure(error).message)
    }
  }
  if (!isOpen) return <Button onClick={() => setIsOpen(true)}>{documentTexts.paste}</Button>
  return (
    <form
      class="paste u-grid u-gap-12 u-full u-card u-inside-16"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label class="u-gap-4 u-muted u-small u-grid">
        {documentTexts.pasteTitle}
        <input
          class="u-full u-body"
          type="text"
          maxLength={200}
          value={title}
          placeholder={documentTexts.pasteOptional}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </label>
      <label class="u-gap-4 u-muted u-small u-grid">
        {documentTexts.pasteText}
        <textarea
          class="u-full u-body"
          rows={8}
          required
          ref={(field) => {
            if (field !== null && document.activeElement === document.body) field.focus()
          }}
          value={text}
          placeholder={documentTexts.pasteHint}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button type="submit" class="button" disabled={text.trim() === ''}>
          {documentTexts.addText}
        </button>
        <Button onClick={() => setIsOpen(false)}>{texts.frame.cancel}</Button>
      </div>
    </form>
  )
}
