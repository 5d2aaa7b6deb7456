import { markdownTable } from './markdown-table.ts'
import { drawnTableAt } from './pdf-drawn-table.ts'
import { comparable, type Bookmark } from './pdf-outline.ts'
import { isRow, lineText, type Cell, type Line } from './pdf-lines.ts'

export interface Typography {
  /** Height of most letters, in points. */
  readonly bodySize: number
  /** Heights of headings, the largest first. */
  readonly headingSizes: readonly number[]
}

const headingFactor = 1.15
/** Lines that are larger by this factor are a title, whatever the distance of plain text. */
const titleFactor = 1.3
const maxHeadingLength = 200
const headingLevels = 5

export function typographyOf(pages: readonly (readonly Line[])[]): Typography {
  const characters = new Map<number, number>()
  for (const lines of pages)
    for (const line of lines)
      characters.set(rounded(line.size), (characters.get(rounded(line.size)) ?? 0) + lineText(line).length)
  let bodySize = 0
  for (const [size, count] of characters) if (count > (characters.get(bodySize) ?? 0)) bodySize = size
  const larger = [...characters.keys()].filter((size) => size >= bodySize * headingFactor)
  return { bodySize, headingSizes: larger.sort((a, b) => b - a).slice(0, headingLevels) }
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2
}

/** A page as Markdown: headings by the size of letters or by bookmarks, paragraphs by distance, lists by their marks, aligned tables. */
export function pageMarkdown(
  lines: readonly Line[],
  typography: Typography,
  bookmarks: readonly Bookmark[] = [],
): string {
  const levels = new Map(bookmarks.map(({ title, level }) => [comparable(title), level]))
  const spacing = usualSpacing(lines)
  const blocks: string[] = []
  let paragraph: Line[] = []
  const endParagraph = (): void => {
    if (paragraph.length > 0) blocks.push(paragraphMarkdown(paragraph, typography))
    paragraph = []
  }
  let noneUntil = 0
  for (let at = 0; at < lines.length; at++) {
    const drawn = at < noneUntil ? noneUntil : drawnTableAt(lines, at)
    if (typeof drawn === 'object') {
      endParagraph()
      blocks.push(markdownTable(drawn.rows.map((row) => row.map((cell) => (cell.length === 0 ? '' : joined(cell))))))
      at = drawn.end - 1
      continue
    }
    noneUntil = drawn
    const rows = tableAt(lines, at)
    if (rows) {
      endParagraph()
      blocks.push(markdownTable(rows.cells))
      at += rows.lineCount - 1
      continue
    }
    const line = lines[at]!
    const level = levels.size === 0 ? undefined : levels.get(comparable(lineText(line)))
    // Headings in the size of plain text, where letters alone tell nothing.
    if (level !== undefined && !typography.headingSizes.includes(rounded(line.size))) {
      endParagraph()
      blocks.push(`${'#'.repeat(Math.min(6, typography.headingSizes.length + level))} ${lineText(line)}`)
      continue
    }
    const last = paragraph.at(-1)
    // The distance of plain text says nothing of larger letters.
    const isLarge = line.size >= typography.bodySize * titleFactor
    if (last && isParted(last, line, isLarge ? Math.max(spacing, line.size) : spacing)) endParagraph()
    paragraph.push(line)
  }
  endParagraph()
  return blocks.filter(Boolean).join('\n\n')
}

/** Distance between lines of one paragraph: a low quantile, as distances between paragraphs are larger. */
function usualSpacing(lines: readonly Line[]): number {
  const gaps: number[] = []
  for (let at = 1; at < lines.length; at++) {
    const gap = lines[at - 1]!.y - lines[at]!.y
    if (gap > 0 && gap < 3 * lines[at]!.size && isSameSize(lines[at - 1]!, lines[at]!)) gaps.push(gap)
  }
  gaps.sort((a, b) => a - b)
  return gaps[Math.floor(gaps.length * 0.3)] ?? Infinity
}

function isSameSize(line: Line, other: Line): boolean {
  return Math.abs(line.size - other.size) <= 0.1 * Math.max(line.size, other.size)
}

function isParted(above: Line, below: Line, spacing: number): boolean {
  if (!isSameSize(above, below)) return true
  const gap = above.y - below.y
  // A jump upwards means a new column; a sentence that continues there is still one paragraph.
  if (gap < 0) return !/^\p{Ll}/u.test(lineText(below)) || /[.!?:;]$/.test(lineText(above))
  return gap > Math.min(spacing * 1.3, 2 * above.size) + 0.5
}

const bulletMark = /^(?:[•‣⁃▪▫◦●○■□➢➤✓✔–—*·\u{f0b7}\u{f0a7}\u{f0d8}]|-)\s+(?=\S)/u
/** A number, or a box of a form that is ticked. */
const numberMark = /^(?:\[x\]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)/

function paragraphMarkdown(lines: readonly Line[], typography: Typography): string {
  const text = joined(lines.map(lineText))
  const level = typography.headingSizes.indexOf(rounded(lines[0]!.size)) + 1
  if (level > 0 && text.length <= maxHeadingLength && /\p{L}/u.test(text) && !lines.some(isRow))
    return `${'#'.repeat(level)} ${text}`
  const items: string[][] = []
  let wasRow = false
  for (const line of lines) {
    const each = lineText(line)
    const isItem = bulletMark.test(each) || numberMark.test(each)
    const breaks = isItem || wasRow || isRow(line)
    wasRow = !isItem && isRow(line)
    if (breaks || items.length === 0) items.push([each.replace(bulletMark, '- ')])
    else items.at(-1)!.push(each)
  }
  return items
    .map(joined)
    .join('\n')
    .replace(/^(?=#{1,6}\s)/gm, '\\')
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，．「」]/u

/** Lines as one text: a word parted at the end of a line becomes whole, lines in Chinese and Japanese join directly. */
function joined(lines: readonly string[]): string {
  return lines.reduce((text, line) => {
    if (/\p{L}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line)) return text.slice(0, -1) + line
    const isUnspaced = unspaced.test(text.at(-1) ?? '') && unspaced.test(line[0] ?? '')
    return text + (isUnspaced ? '' : ' ') + line
  })
}

/** A list marker that is separate from the text of its item. */
const loneMark = /^(?:[^\p{L}\p{N}]|\(?(?:\d+\.)*\d+[.)]?|\(?[a-z][.)])$/u

/**
 * A table that starts at a line: at least three lines of cells (two if there are three columns, and the second is full or
 * has figures) that are aligned left, right or centred. A line that fills only later columns continues the row above; one
 * that begins in small letters below a lone first cell continues that.
 */
function tableAt(lines: readonly Line[], from: number) {
  const columns = lines[from]!.cells
  if (columns.length < 2 || (columns.length === 2 && loneMark.test(columns[0]!.text))) return undefined
  const cells: string[][] = [columns.map(({ text }) => text)]
  let at = from + 1
  for (; at < lines.length; at++) {
    const line = lines[at]!
    const gap = lines[at - 1]!.y - line.y
    if (gap <= 0 || gap > 3 * line.size) break
    const filled = columnsOf(line, columns)
    if (!filled) break
    const isContinued = filled[0] !== 0 && gap <= (filled.length === 1 && columns.length > 2 ? 2.2 : 1.5) * line.size
    if (!isContinued && filled.length < 2) {
      // A first cell of two lines; the name of a group of rows. A paragraph below the table looks the same without what follows.
      const next = lines[at + 1]
      if (filled[0] !== 0 || !next || !isFollowed(line, next, columns)) break
    }
    const isWrapped = startsSmall(line) && filled[0] === 0 && isLoneFirst(cells.at(-1)!) && cells.length > 1
    const row = isContinued || isWrapped ? cells.at(-1)! : columns.map(() => '')
    for (const [number, column] of filled.entries()) row[column] = `${row[column]} ${line.cells[number]!.text}`.trim()
    if (!isContinued && !isWrapped) cells.push(row)
  }
  const isTable = cells.length > 2 || (cells.length === 2 && columns.length > 2 && isFullOrFigures(cells[1]!))
  return isTable ? { cells, lineCount: at - from } : undefined
}

/** Columns of the cells of a line, in their order; undefined when it does not fit the table. */
function columnsOf({ cells, size }: Line, columns: readonly Cell[]): number[] | undefined {
  const filled = cells.map((cell) => {
    const below = columns.findIndex((column) => isBelow(cell, column, size))
    if (below >= 0 || cells.length > 1 || columns.length < 3) return below
    // Indented, such as an item of a list within a cell.
    const after = columns.findIndex((column) => column.x > cell.x)
    const within = (after < 0 ? columns.length : after) - 1
    return within > 0 && cell.end < (columns[within + 1]?.x ?? Infinity) ? within : -1
  })
  const isFitting = !filled.includes(-1) && new Set(filled).size === filled.length
  return isFitting ? filled : undefined
}

/** Whether a row comes right below a line with a first cell only. */
function isFollowed(line: Line, next: Line, columns: readonly Cell[]): boolean {
  const gap = line.y - next.y
  const filled = gap > 0 && gap <= 1.7 * line.size ? columnsOf(next, columns) : undefined
  return filled !== undefined && filled[0] === 0 && filled.length > 1 && filled.length * 2 >= columns.length
}

/** Two lines of justified words may stand below each other by chance. */
const isFullOrFigures = (row: readonly string[]): boolean =>
  row.every((cell) => cell !== '') || row.some((cell) => /^[^\p{L}\d]*\d[^\p{L}]*$/u.test(cell))

const startsSmall = ({ cells }: Line): boolean => /^\p{Ll}/u.test(cells[0]?.text ?? '')
const isLoneFirst = (row: readonly string[]): boolean => row.slice(1).every((cell) => cell === '')

function isBelow(cell: Cell, column: Cell, size: number): boolean {
  const offsets = [cell.x - column.x, cell.end - column.end, (cell.x + cell.end - column.x - column.end) / 2]
  return offsets.some((offset) => Math.abs(offset) < size)
}
