import type { JSX } from 'preact'

/** What went wrong, read out at once. */
export function FailureNote({ failure }: { failure: { readonly message: string } }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <p>{failure.message}</p>
    </div>
  )
}
