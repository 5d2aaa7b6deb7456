/** What can be seen of a page, in words: a line for each element that is drawn, with its box and its colours. */

/**
 * Describes the page in lines such as `  button.send 812 401 40 40 bg 13,102,96 round 50`: indented as elements lie in one
 * another, then left, top, width and height. Runs in the browser.
 */
export function describeLayout(): string[] {
  const structural =
    'main, header, nav, aside, section, article, form, dialog, h1, h2, h3, p, li, a, button, input, select, textarea, summary, img, table, tr, th, pre, label, inlay-chat'
  const most = 140
  const lines: string[] = []
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
  const painted = (colour: string): string | undefined => {
    context.clearRect(0, 0, 1, 1)
    context.fillStyle = colour
    context.fillRect(0, 0, 1, 1)
    const [red, green, blue, alpha = 0] = context.getImageData(0, 0, 1, 1).data
    return alpha < 8 ? undefined : `${red},${green},${blue}`
  }
  const hasText = (element: Element): boolean =>
    Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.nodeValue?.trim() !== '')
  const describe = (element: Element, depth: number): boolean => {
    const style = getComputedStyle(element)
    const { left, top, width, height } = element.getBoundingClientRect()
    if (width < 2 || height < 2) return false
    const ground = painted(style.backgroundColor)
    const border = Math.round(Number.parseFloat(style.borderBottomWidth))
    if (!element.matches(structural) && ground === undefined && border === 0) return false
    // What classes of a look (`u-muted`) do is seen itself.
    const names = Array.from(element.classList).filter((each) => !each.startsWith('u-'))
    const name = [element.localName, ...names.toSorted()].join('.')
    const box = [left + scrollX, top + scrollY, width, height].map(Math.round).join(' ')
    const looks = [
      ground !== undefined && `bg ${ground}`,
      border > 0 && `line ${border} ${painted(style.borderBottomColor) ?? 'none'}`,
      ground !== undefined || border > 0 ? `round ${Math.round(Number.parseFloat(style.borderTopLeftRadius))}` : false,
      hasText(element) &&
        `text ${Number.parseFloat(style.fontSize)} ${style.fontWeight} ${painted(style.color) ?? 'none'}`,
    ].filter((look) => look !== false)
    lines.push(`${' '.repeat(depth)}${[name, box, ...looks].join(' ')}`)
    return true
  }
  const walk = (element: Element, depth: number): void => {
    if (lines.length >= most || !element.checkVisibility({ visibilityProperty: true })) return
    const inside = describe(element, depth) ? depth + 1 : depth
    if (element.localName === 'svg' || element.localName === 'select') return
    const seen = new Map<string, number>()
    for (const child of (element.shadowRoot ?? element).children) {
      const kind = `${child.localName} ${child.className}`
      const count = (seen.get(kind) ?? 0) + 1
      seen.set(kind, count)
      // Two rows of a list tell how the others look.
      if (count <= 2 || !['li', 'tr', 'td', 'option'].includes(child.localName)) walk(child, inside)
    }
  }
  for (const child of document.body.children) walk(child, 0)
  return lines
}

/**
 * What nobody wants to see in any view: a page wider than its window, and controls that lie over one another. Runs in the
 * browser.
 */
export function findLayoutFaults(): string[] {
  const faults: string[] = []
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth + 1) faults.push(`the page is ${scrollWidth} wide in a window of ${clientWidth}`)
  const nameOf = (element: Element): string =>
    `${element.localName}.${element.className} "${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 30)}"`
  const isAbove = (element: Element): boolean => {
    for (let each: Element | null = element; each !== null; each = each.parentElement)
      if (['fixed', 'sticky'].includes(getComputedStyle(each).position)) return true
    return false
  }
  const controls = document.querySelectorAll('a, button, input, select, textarea, summary')
  for (const control of controls) {
    const { left, top, width, height } = control.getBoundingClientRect()
    if (width < 2 || height < 2 || !control.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      continue
    const [x, y] = [left + width / 2, top + height / 2]
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue
    const hit = document.elementFromPoint(x, y)
    if (hit === null || control.contains(hit) || hit.contains(control) || isAbove(hit)) continue
    // A label stands for its field.
    if (hit.closest('label')?.contains(control)) continue
    faults.push(`${nameOf(control)} lies under ${nameOf(hit)}`)
  }
  return faults
}

/** How a page differs from what was stored of it, a sentence for each element; rounding and a digit more do not count. */
export function compareLayouts(stored: readonly string[], seen: readonly string[]): string[] {
  const [before, now] = [stored.map(parse), seen.map(parse)]
  const differences: string[] = []
  const length = Math.max(before.length, now.length)
  for (let at = 0; at < length; at++) {
    const [was, is] = [before[at], now[at]]
    if (was?.name !== is?.name) {
      // What follows is another element, too.
      differences.push(`line ${at + 1}: ${is?.name ?? 'nothing'}, was ${was?.name ?? 'nothing'}`)
      break
    }
    if (was === undefined || is === undefined || isAlike(was, is)) continue
    differences.push(`${is.name.trim()}: ${is.rest}, was ${was.rest}`)
  }
  return differences
}

interface Drawn {
  readonly name: string
  readonly rest: string
}

const parse = (line: string): Drawn => {
  const [, name = '', rest = ''] = /^( *\S+) (.*)$/.exec(line) ?? []
  return { name, rest }
}

/** Positions and sizes may differ by some pixels, or by a fiftieth; colours by what another rounding makes of them. */
function isAlike({ rest: was }: Drawn, { rest: is }: Drawn): boolean {
  const [before, now] = [was, is].map((text) => text.split(/[ ,]/))
  if (before === undefined || now === undefined || before.length !== now.length) return false
  return before.every((value, at) => {
    const [expected, actual] = [Number(value), Number(now[at])]
    if (Number.isNaN(expected)) return value === now[at]
    const tolerance = at < 4 ? 8 + Math.abs(expected) / 50 : 6
    return Math.abs(expected - actual) <= tolerance
  })
}
