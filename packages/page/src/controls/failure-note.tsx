import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'

interface FailureNoteProps {
  readonly failure: { readonly message: string }
  readonly close?: () => void
  readonly retry?: () => void
}

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
