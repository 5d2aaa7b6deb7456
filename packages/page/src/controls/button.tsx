import type { JSX } from 'preact'

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'class' | 'label'> & {
  /** How it looks. Default: `quiet`. */
  readonly kind?: 'filled' | 'quiet' | 'text' | 'danger'
  readonly class?: string
  /** Read out in place of its words. */
  readonly label?: string
}

/** A button that submits no form. */
export function Button({ kind = 'quiet', class: name = '', label, ...button }: ButtonProps) {
  const look = kind === 'filled' ? 'button' : `${kind}-button`
  return <button type="button" class={`${look} ${name}`.trimEnd()} aria-label={label} {...button} />
}
