interface SearchFieldProps {
  /** Read out, and shown while it is empty. */
  readonly label: string
  readonly words: string
  readonly search: (words: string) => void
}

export function SearchField({ label, words, search }: SearchFieldProps) {
  return (
    <label class="search-field">
      <span class="visually-hidden">{label}</span>
      <input
        class="u-surface u-full u-round-12"
        type="search"
        placeholder={label}
        maxLength={200}
        value={words}
        onInput={(event) => search(event.currentTarget.value)}
      />
    </label>
  )
}
