import { useEffect, useRef } from 'preact/hooks'
import { adminSections, isServed, type AdminSection } from '../address.ts'
import { adminTexts } from '../texts/view-texts.ts'

interface AdminTabsProps {
  readonly shown: AdminSection | 'health'
  /** Path of the API, such as `/api`. */
  readonly baseUrl: string
}

export function AdminTabs({ shown, baseUrl }: AdminTabsProps) {
  const shownTab = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    // On a phone there is not room for all.
    shownTab.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [shown])
  const tab = (name: AdminSection | 'health', address: string) => (
    <a
      class="u-muted u-flex-none u-medium"
      key={name}
      href={address}
      aria-current={name === shown ? 'page' : undefined}
      ref={name === shown ? shownTab : undefined}
    >
      {adminTexts[name]}
    </a>
  )
  return (
    <nav class="tabs u-flex u-gap-2 u-line-below" aria-label={adminTexts.sections}>
      {adminSections.filter(isServed).map((name) => tab(name, `#admin/${name}`))}
      {isServed('health') && tab('health', '#health')}
      <a class="u-muted u-flex-none u-medium" href={`${baseUrl}/docs`} target="_blank" rel="noopener">
        {adminTexts.reference}
      </a>
    </nav>
  )
}
