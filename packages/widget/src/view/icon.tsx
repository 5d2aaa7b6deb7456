import type { JSX } from 'preact'

/** An icon of strokes with a 24×24 view box. */
export function Icon({ path }: { path: string }): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
