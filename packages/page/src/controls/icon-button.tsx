import { Icon, type IconName } from './icons.tsx'

interface IconButtonProps {
  readonly icon: IconName
  /** Read out. */
  readonly label: string
  /** Shown where the pointer rests. Default: `label`. */
  readonly title?: string
  readonly class?: string
  readonly disabled?: boolean
  readonly tabIndex?: number
  readonly 'aria-disabled'?: boolean
  readonly 'aria-expanded'?: boolean
  readonly 'aria-haspopup'?: 'dialog'
  readonly 'aria-pressed'?: boolean
  readonly onClick: () => void
}

export function IconButton({ icon, label, title = label, class: name = '', ...button }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${name}`.trimEnd()} aria-label={label} title={title} {...button}>
      <Icon name={icon} />
    </button>
  )
}
