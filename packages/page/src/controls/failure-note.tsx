import type { JSX } from 'preact'
import { texts } from '../texts/texts.ts'

interface FailureNoteProps {
  readonly failure: { readonly message: string }
  /** Absent: the note cannot be closed. */
  readonly close?: () => void
  readonly retry?: () => void
}

/** An error message, which screen readers announce at once. */
export function FailureNote({ failure, close, retry }: FailureNoteProps): JSX.Element {
  return (
    <div class="failure" role="alert">
      <p>
        {failure.message}{' '}
        {retry !== undefined && (
          <button type="button" class="text-button" onClick={retry}>
            {texts.frame.retry}
          </button>
        )}
        {close !== undefined && (
          <button type="button" class="text-button" onClick={close}>
            {texts.frame.close}
          </button>
        )}
      </p>
    </div>
  )
}
