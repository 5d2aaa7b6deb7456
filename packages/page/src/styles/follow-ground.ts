/** Keeps the colour scheme to what the background is: a brand may set a light one that holds in a dark system, too. */
export function followGround(): void {
  const root = document.documentElement
  const follow = (): void => {
    // A background of two values depends on the system again.
    delete root.dataset.ground
    const [, luminance] = /^color\(xyz\S* \S+ (\S+) \S+\)$/.exec(getComputedStyle(root).columnRuleColor) ?? []
    if (luminance !== undefined) root.dataset.ground = Number(luminance) < 0.179 ? 'dark' : 'light'
  }
  follow()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow)
}
