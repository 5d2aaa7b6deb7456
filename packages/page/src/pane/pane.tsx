import { safeLink } from '@inlay/text/markdown'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon } from '../controls/icons.tsx'
import { keep, readKept } from '../kept.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { closePane, usePane } from './pane-store.ts'

export function Pane({ service }: { service: Service }) {
  const content = usePane()
  const heading = useRef<HTMLHeadingElement>(null)
  const id = content?.id
  // Before the browser paints: Escape has to close what is seen.
  useLayoutEffect(() => {
    if (id !== undefined) heading.current?.focus({ preventScroll: true })
  }, [id])
  if (content === null) return null
  const href = content.link === undefined ? undefined : safeLink(content.link)
  return (
    <>
      <div class="pane-shade u-fixed" onClick={closePane} />
      <aside
        class="pane u-flex u-fixed u-surface u-shadow"
        aria-labelledby="pane-title"
        onKeyDown={(event) => {
          if (event.key === 'Escape') closePane()
        }}
      >
        <Divider />
        <div class="pane-head u-row u-gap-4 u-line-below">
          <h2 class="u-ellipsis u-min-0 u-grow" id="pane-title" ref={heading} tabIndex={-1} dir="auto">
            {content.title}
          </h2>
          {href !== undefined && (
            <a
              class="icon-button"
              href={href}
              target="_blank"
              rel="noopener noreferrer nofollow"
              aria-label={texts.pane.openAddress}
              title={texts.pane.openAddress}
            >
              <Icon name="out" />
            </a>
          )}
          <IconButton icon="close" label={texts.pane.close} title={texts.frame.close} onClick={closePane} />
        </div>
        <content.view key={content.id} service={service} />
      </aside>
    </>
  )
}

/** Least and most width of the pane, and the step of an arrow key; pixels. */
const minWidth = 320
const maxWidth = 960
const step = 40
const defaultWidth = 480
const storageName = 'inlay-pane'

function Divider() {
  const [width, setWidth] = useState(readWidth)
  useEffect(() => {
    document.documentElement.style.setProperty('--pane', `${width}px`)
  }, [width])
  const widen = (wanted: number): void => {
    const next = Math.round(Math.min(maxWidth, Math.max(minWidth, wanted)))
    setWidth(next)
    keep(storageName, String(next))
  }
  return (
    <div
      class="pane-divider"
      role="separator"
      aria-label={texts.pane.width}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={minWidth}
      aria-valuemax={maxWidth}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) widen(innerWidth - event.clientX)
      }}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') widen(width + step)
        if (event.key === 'ArrowRight') widen(width - step)
      }}
      onDblClick={() => widen(defaultWidth)}
    />
  )
}

function readWidth(): number {
  const kept = Number(readKept(storageName))
  return kept >= minWidth && kept <= maxWidth ? kept : defaultWidth
}
