/** A place in pixels from the upper left corner. */
export interface Box {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
}

export interface TextLine {
  readonly text: string
  readonly bbox: Box
}

/** A column, a heading, or a column of a table. */
export interface TextBlock {
  readonly bbox: Box
  readonly paragraphs: readonly { readonly lines: readonly TextLine[] }[]
}

/** Fewer words in a line, on average, than any column of running text has. */
const tableWords = 4
/** Share of the lines of a block that have another beside them, where it is the first column of a table. */
const alignedShare = 0.6

/** As the columns come, but those of a table in rows, since a number means nothing without its row. */
export function inReadingOrder(blocks: readonly TextBlock[]): string {
  const all = blocks.map((block) => ({ bbox: block.bbox, lines: block.paragraphs.flatMap(({ lines }) => lines) }))
  const short = all.filter(({ lines }) => wordsPerLine(lines) < tableWords)
  const columns = new Set(short.filter((block) => short.some((other) => other !== block && isBeside(block, other))))
  const cells = [...columns].flatMap(({ lines }) => lines)
  for (const block of all) {
    const aligned = block.lines.filter((line) => cells.some((cell) => cell !== line && isBeside(line, cell)))
    if (!columns.has(block) && aligned.length > 1 && aligned.length >= alignedShare * block.lines.length) {
      columns.add(block)
      cells.push(...block.lines)
    }
  }
  const first = all.find((block) => columns.has(block))
  return all
    .flatMap((block, at) => {
      if (block === first) return [rowsOf(cells)]
      return columns.has(block) ? [] : [paragraphsOf(blocks[at]!)]
    })
    .join('\n\n')
}

function paragraphsOf({ paragraphs }: TextBlock): string {
  return paragraphs.map(({ lines }) => lines.map(({ text }) => text.trim()).join('\n')).join('\n\n')
}

function rowsOf(cells: readonly TextLine[]): string {
  const rows: TextLine[][] = []
  for (const cell of cells.toSorted((a, b) => a.bbox.y0 - b.bbox.y0)) {
    const row = rows.at(-1)
    if (row && isBeside(row[0]!, cell)) row.push(cell)
    else rows.push([cell])
  }
  const toText = (row: readonly TextLine[]): string =>
    row
      .toSorted((a, b) => a.bbox.x0 - b.bbox.x0)
      .map(({ text }) => text.trim())
      .join(' | ')
  return rows.map(toText).join('\n')
}

function wordsPerLine(lines: readonly TextLine[]): number {
  const words = lines.reduce((sum, { text }) => sum + text.trim().split(/\s+/).length, 0)
  return words / Math.max(1, lines.length)
}

/** Whether they share half of the height of the lower one, and no width. */
function isBeside({ bbox: a }: { readonly bbox: Box }, { bbox: b }: { readonly bbox: Box }): boolean {
  const height = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0)
  return height > Math.min(a.y1 - a.y0, b.y1 - b.y0) / 2 && (a.x1 <= b.x0 || b.x1 <= a.x0)
}
