import type { RefObject } from 'preact'

interface FileFieldProps {
  /** Clicked by the button that is seen. */
  readonly picker: RefObject<HTMLInputElement | null>
  readonly label: string
  readonly accept?: string
  readonly take: (files: readonly File[]) => void
}

export function FileField({ picker, label, accept, take }: FileFieldProps) {
  return (
    <input
      ref={picker}
      type="file"
      multiple
      accept={accept}
      class="visually-hidden"
      tabIndex={-1}
      aria-label={label}
      onChange={({ currentTarget }) => {
        const files = [...(currentTarget.files ?? [])]
        // The same file can be chosen again.
        currentTarget.value = ''
        take(files)
      }}
    />
  )
}
