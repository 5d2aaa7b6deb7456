import { accentRule, brandScheme } from '@inlay/client/conversation'

/**
 * Derives colours from the accent, and keeps the colour scheme to the colours of a brand, which may be light ones that
 * hold in a dark system, too.
 */
export function followGround(): void {
  const root = document.documentElement
  // Paper has black text and no accents.
  const sheet = new CSSStyleSheet({ media: 'screen' })
  sheet.replaceSync(accentRule(':root'))
  document.adoptedStyleSheets.push(sheet)
  const follow = (): void => {
    // A colour of two values depends on the system again.
    delete root.dataset.ground
    const scheme = brandScheme(root)
    if (scheme !== undefined) root.dataset.ground = scheme
  }
  follow()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow)
}
