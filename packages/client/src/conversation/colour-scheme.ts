export type ColourScheme = 'light' | 'dark'

/** Luminance below which white is readable on a colour, and above which black is. */
const middle = 0.179

/**
 * Rule for colours that follow from the accent `--fill`, by its luminance (y): `--on-fill`, black or white, is readable
 * on it; `--accent`, the accent as text, is at most so light, in dark at least so light, that it is readable. For
 * browsers without relative colours, the styles of the element set both before.
 */
export function accentRule(selector: string): string {
  return `@supports (color: color(from red xyz x y z)) {
  ${selector} {
    --white: clamp(0, (${middle} - y) * 99999, 1);
    --on-fill: var(--inlay-on-accent, color(from var(--fill) xyz calc(0.9505 * var(--white)) var(--white) calc(1.089 * var(--white))));
    --darker: min(1, 0.13 / y);
    --paler: max(0, (0.3 - y) / (1 - y));
    --accent: light-dark(
      color(from var(--fill) xyz calc(x * var(--darker)) calc(y * var(--darker)) calc(z * var(--darker))),
      color(from var(--fill) xyz calc(x + (0.9505 - x) * var(--paler)) calc(y + (1 - y) * var(--paler)) calc(z + (1.089 - z) * var(--paler))));
  }
}`
}

/**
 * The colour scheme in which the `--inlay-` colours set on an element are readable, whatever the system prefers: that of
 * its background, else the one for its text, else that of what shows through a transparent background. Undefined if
 * neither is set: the system decides.
 *
 * The styles of the element hold its background as `column-rule-color` and its text as `text-decoration-color`,
 * where they paint nothing.
 */
export function brandScheme(element: Element): ColourScheme | undefined {
  const style = getComputedStyle(element)
  const isSet = (name: string): boolean => style.getPropertyValue(name).trim() !== ''
  const ground = isSet('--inlay-background') ? luminanceOf(style.columnRuleColor) : undefined
  if (ground !== undefined) return ground < middle ? 'dark' : 'light'
  const text = isSet('--inlay-text') ? luminanceOf(style.textDecorationColor) : undefined
  if (text !== undefined) return text < middle ? 'light' : 'dark'
  return isSet('--inlay-background') ? schemeBehind(element) : undefined
}

/** Of the nearest ancestor with a background, else of the empty page. */
function schemeBehind(element: Element): ColourScheme {
  for (let behind = parentOf(element); behind !== undefined; behind = parentOf(behind)) {
    const luminance = luminanceOf(getComputedStyle(behind).backgroundColor)
    if (luminance !== undefined) return luminance < middle ? 'dark' : 'light'
  }
  const { colorScheme } = getComputedStyle(document.documentElement)
  const isDark = !colorScheme.includes('light') || matchMedia('(prefers-color-scheme: dark)').matches
  return isDark && colorScheme.includes('dark') ? 'dark' : 'light'
}

function parentOf(element: Element): Element | undefined {
  const root: Node & { readonly host?: Element } = element.getRootNode()
  return element.parentElement ?? root.host
}

/**
 * Luminance of a computed colour, 0 to 1, exact for grey and close enough for the rest; undefined if it is half
 * transparent or more.
 */
function luminanceOf(colour: string): number | undefined {
  const tokens = colour.match(/[a-z][\w-]*|[\d.][\de.+-]*/g) ?? []
  const space = tokens.findLast((token) => /^[a-z]/.test(token)) ?? ''
  const [first = 0, second = 0, third = 0, alpha = 1] = tokens.map(Number).filter((value) => !Number.isNaN(value))
  if (alpha < 0.5) return undefined
  if (space.startsWith('xyz')) return second
  if (space.startsWith('ok')) return first ** 3
  if (space.startsWith('l')) return ((first + 16) / 116) ** 3
  const [scale, exponent] = [space.startsWith('rgb') ? 255 : 1, space.endsWith('linear') ? 1 : 2.2]
  const linear = (value: number): number => (value / scale) ** exponent
  return 0.2126 * linear(first) + 0.7152 * linear(second) + 0.0722 * linear(third)
}
