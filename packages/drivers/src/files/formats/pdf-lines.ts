/** A run of text as the PDF draws it; lengths in points, `y` grows upwards. */
export interface PdfText {
  readonly str: string
  /** Scale and place: [a, b, c, d, x, y]. */
  readonly transform: readonly number[]
  readonly width: number
  readonly hasEOL: boolean
}

/** Text without a wide gap in it. */
export interface Cell {
  text: string
  readonly x: number
  /** Right edge, in points from the left. */
  end: number
}

/** One line of a page: usually one cell, several where a table or columns are drawn across. */
export interface Line {
  readonly y: number
  /** Height of most of its letters, in points. */
  readonly size: number
  readonly cells: Cell[]
}

/** In letter heights. Justified text may have such gaps, but not aligned with those of adjacent lines. */
const cellGap = 1

/** Puts the runs of a page together to lines, in the order they are drawn, which is the order of reading in most files. */
export function linesOf(items: readonly PdfText[]): Line[] {
  const lines: Line[] = []
  let line: { y: number; size: number; cells: Cell[]; longest: number } | undefined
  let isApart = false
  let isSpaced = false
  const endLine = (): void => {
    if (line) lines.push({ y: line.y, size: line.size, cells: tidy(line.cells) })
    line = undefined
    isApart = isSpaced = false
  }
  for (const { str, transform, width, hasEOL } of items) {
    const [, , c = 0, d = 0, x = 0, y = 0] = transform
    const size = Math.hypot(c, d)
    if (str.trim() === '') {
      isSpaced ||= str !== ''
      isApart ||= width > cellGap * size
    } else {
      if (line && Math.abs(y - line.y) > 0.5 * Math.max(size, line.size)) endLine()
      line ??= { y, size, cells: [], longest: 0 }
      const last = line.cells.at(-1)
      if (last && !isApart && x - last.end < cellGap * size && x > last.end - 2 * size) {
        last.text += (isSpaced ? ' ' : '') + str
        last.end = x + width
      } else line.cells.push({ text: str, x, end: x + width })
      if (str.length > line.longest) Object.assign(line, { longest: str.length, size })
      isApart = isSpaced = false
    }
    if (hasEOL) endLine()
  }
  endLine()
  return lines
}

function tidy(cells: readonly Cell[]): Cell[] {
  return cells
    .map((cell) => ({ ...cell, text: cell.text.replace(leaders, ' …… ').replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => text !== '')
}

/** The dots of a table of contents; they become one sign. */
const leaders = /(?<!\s)\s*(?:[.·…]\s?){4,}/g

export function lineText(line: Line): string {
  return line.cells.map(({ text }) => text).join(' ')
}

/** A gap that no justified text has, in letter heights. */
const wideGap = 1.8

/** Whether a line is a row with a gap or dots that does not continue on the next line. */
export function isRow(line: Line): boolean {
  if (line.cells.some((cell, at) => at > 0 && cell.x - line.cells[at - 1]!.end > wideGap * line.size)) return true
  return lineText(line).includes('……')
}

/** A page as lines, with the height of its paper in points. */
export interface PdfPage {
  readonly lines: readonly Line[]
  readonly height: number
}

/** Share of the page, at the top and bottom, where running headers and footers are. */
const margin = 0.12

/** A key of {@link edgeKey}. "Chapter #" is none: two pages may begin with such headings. */
const isPageNumber =
  /^(?:top|bottom) [^\p{L}#]*(?:(?:page|seite|p|s|página|pagina)\b\.?\s*)?#(?:\s*(?:of|von|sur|de|di|van|\/)\s*#)?[^\p{L}#]*$/iu

/** Lines near an edge that repeat, ignoring numbers, on half of three or more pages; numbers only, on two pages. */
export function withoutFurniture(pages: readonly PdfPage[]): Line[][] {
  const pagesWith = new Map<string, number>()
  for (const page of pages)
    for (const key of new Set(page.lines.map((line) => edgeKey(line, page))))
      if (key !== undefined) pagesWith.set(key, (pagesWith.get(key) ?? 0) + 1)
  const isFurniture = (key: string | undefined): boolean => {
    const count = pagesWith.get(key ?? '') ?? 0
    return isPageNumber.test(key ?? '') ? count > 1 : count >= Math.max(3, pages.length / 2)
  }
  return pages.map((page) => page.lines.filter((line) => !isFurniture(edgeKey(line, page))))
}

function edgeKey(line: Line, page: PdfPage): string | undefined {
  const edge = line.y > page.height * (1 - margin) ? 'top' : line.y < page.height * margin ? 'bottom' : undefined
  return edge && `${edge} ${lineText(line).replace(/\d+|\b[ivxlc]{1,7}$/g, '#')}`
}
