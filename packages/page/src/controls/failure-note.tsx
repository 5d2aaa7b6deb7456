import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'

interface FailureNoteProps {
  readonly failure: { readonly message: string }
  /** Absent: the note cannot be closed. */
  readonly close?: () => void
  readonly retry?: () => void
}

/** An error message, which screen readers announce at once. */
export function FailureNote({ failure, close, retry }: FailureNoteProps) {
  return (
    <div class="failure" role="alert">
      <p>
        {failure.message}{' '}
        {retry !== undefined && (
          <Button kind="text" onClick={retry}>
            {texts.frame.retry}
          </Button>
        )}
        {close !== undefined && (
          <Button kind="text" onClick={close}>
            {texts.frame.close}
          </Button>
        )}
      </p>
    </div>
  )
}
