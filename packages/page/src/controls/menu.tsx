import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

export interface MenuEntry {
  readonly label: string
  readonly act: () => void
  /** Whether it is selected; absent if the entries are not choices. */
  readonly isChosen?: boolean
}

interface MenuProps {
  /** Read out, and shown unless there is only the icon. */
  readonly label: string
  readonly icon: IconName
  readonly isIconOnly?: boolean
  readonly entries: readonly MenuEntry[]
}

export function Menu({ label, icon, isIconOnly = false, entries }: MenuProps) {
  const [isOpen, setIsOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  // Before the next key is pressed.
  useLayoutEffect(() => {
    if (isOpen) itemsIn(place.current)[0]?.focus()
  }, [isOpen])
  useEffect(() => {
    if (!isOpen) return undefined
    const onPointer = (event: Event): void => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) setIsOpen(false)
    }
    addEventListener('pointerdown', onPointer)
    return () => removeEventListener('pointerdown', onPointer)
  }, [isOpen])
  const close = (): void => {
    setIsOpen(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return
    const items = itemsIn(place.current)
    const at = items.findIndex((item) => item === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') return setIsOpen(false)
    if (event.key !== 'Escape' && to === undefined) return
    event.preventDefault()
    // Escape also ends a running answer.
    event.stopPropagation()
    if (to === undefined) close()
    else items.at(to % items.length)?.focus()
  }
  return (
    <div class="menu-place u-relative" ref={place} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class={isIconOnly ? 'icon-button' : 'quiet-button'}
        aria-label={isIconOnly ? label : undefined}
        title={isIconOnly ? label : undefined}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name={icon} />
        {!isIconOnly && label}
      </button>
      {isOpen && (
        <div class="menu u-grid u-line u-surface u-shadow u-round-12 u-scroll" id={id} role="menu" aria-label={label}>
          {entries.map((entry, at) => (
            <button
              key={at}
              type="button"
              role={entry.isChosen === undefined ? 'menuitem' : 'menuitemradio'}
              aria-checked={entry.isChosen}
              tabIndex={-1}
              onClick={() => {
                close()
                entry.act()
              }}
            >
              <span>{entry.label}</span>
              {entry.isChosen === true && <Icon name="check" />}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

const itemsIn = (place: HTMLElement | null): readonly HTMLElement[] => [
  ...(place?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? []),
]
