/** A block of Markdown; the text in it is parsed by `parseInline`. */
export type MarkdownBlock =
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly MarkdownBlock[])[] }
  | { readonly kind: 'table'; readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'rule' }

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)/
const heading = /^ {0,3}(#{1,6})[ \t]+(.*)$/
const rule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*))?$/
const separator = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

/** Quotes and lists inside each other, at most; deeper ones are text. */
const deepest = 12

/** The blocks of a text that may still grow: what is not closed yet reaches to the end. */
export function parseBlocks(text: string): MarkdownBlock[] {
  return blocksOf(text.replaceAll(/\r\n?/g, '\n').split('\n'), 0)
}

interface Reader {
  readonly lines: readonly string[]
  at: number
}

function blocksOf(lines: readonly string[], depth: number): MarkdownBlock[] {
  const reader: Reader = { lines, at: 0 }
  const blocks: MarkdownBlock[] = []
  while (reader.at < lines.length) {
    const block = readBlock(reader, depth)
    if (block !== undefined) blocks.push(block)
  }
  return blocks
}

function readBlock(reader: Reader, depth: number): MarkdownBlock | undefined {
  const line = reader.lines[reader.at] ?? ''
  if (line.trim() === '') {
    reader.at++
    return undefined
  }
  if (fence.test(line)) return readCode(reader)
  const [, marks, text] = heading.exec(line) ?? []
  if (marks !== undefined) {
    reader.at++
    return { kind: 'heading', level: marks.length, text: (text ?? '').replace(/[ \t]+#+[ \t]*$/, '').trim() }
  }
  if (rule.test(line)) {
    reader.at++
    return { kind: 'rule' }
  }
  if (depth < deepest && quote.test(line)) return readQuote(reader, depth)
  if (depth < deepest && item.test(line)) return readList(reader, depth)
  if (isTable(reader)) return readTable(reader)
  return readParagraph(reader, depth)
}

function readCode(reader: Reader): MarkdownBlock {
  const [, marks = '```', language = ''] = fence.exec(reader.lines[reader.at++] ?? '') ?? []
  const start = reader.at
  const isEnd = (line: string): boolean => {
    const trimmed = line.trim()
    return trimmed.startsWith(marks) && trimmed.replaceAll(marks[0] ?? '`', '') === ''
  }
  while (reader.at < reader.lines.length && !isEnd(reader.lines[reader.at] ?? '')) reader.at++
  const text = reader.lines.slice(start, reader.at++).join('\n')
  return { kind: 'code', language, text }
}

function readQuote(reader: Reader, depth: number): MarkdownBlock {
  const inner: string[] = []
  for (; quote.test(reader.lines[reader.at] ?? ''); reader.at++)
    inner.push((reader.lines[reader.at] ?? '').replace(quote, ''))
  return { kind: 'quote', blocks: blocksOf(inner, depth + 1) }
}

function readList(reader: Reader, depth: number): MarkdownBlock {
  const kindOf = (marker: string): string => marker.at(-1) ?? ''
  const [, , first = '-'] = item.exec(reader.lines[reader.at] ?? '') ?? []
  const items: MarkdownBlock[][] = []
  for (;;) {
    const [, indent = '', marker, gap = ' ', text = ''] = item.exec(reader.lines[reader.at] ?? '') ?? []
    if (marker === undefined || kindOf(marker) !== kindOf(first)) break
    reader.at++
    const width = indent.length + marker.length + (gap.length > 4 ? 1 : gap.length)
    items.push(blocksOf([text, ...readItem(reader, width)], depth + 1))
  }
  return { kind: 'list', start: /^\d/.test(first) ? Number.parseInt(first, 10) : undefined, items }
}

/** The lines that belong to an item after its first: indented, blank between such, or going on with its paragraph. */
function readItem(reader: Reader, width: number): string[] {
  const { lines } = reader
  const inner: string[] = []
  while (reader.at < lines.length) {
    const line = lines[reader.at] ?? ''
    const indent = line.length - line.trimStart().length
    const isBlank = line.trim() === ''
    if (isBlank) {
      const next = lines[reader.at + 1] ?? ''
      // Models often indent less than the marker is wide.
      if (next.trim() === '' || next.length - next.trimStart().length < Math.min(width, 2)) break
    } else if (indent < Math.min(width, 2) && (inner.at(-1) === '' || startsBlock(line))) break
    inner.push(isBlank ? '' : line.slice(Math.min(indent, width)))
    reader.at++
  }
  // A blank line between two items.
  if ((lines[reader.at] ?? 'end').trim() === '' && item.test(lines[reader.at + 1] ?? '')) reader.at++
  return inner
}

const startsBlock = (line: string): boolean => [fence, heading, rule, quote, item].some((form) => form.test(line))

function isTable({ lines, at }: Reader): boolean {
  return (lines[at] ?? '').includes('|') && (lines[at + 1] ?? '').includes('-') && separator.test(lines[at + 1] ?? '')
}

function readTable(reader: Reader): MarkdownBlock {
  const header = cellsOf(reader.lines[reader.at] ?? '')
  reader.at += 2
  const rows: string[][] = []
  for (; (reader.lines[reader.at] ?? '').includes('|'); reader.at++) {
    const cells = cellsOf(reader.lines[reader.at] ?? '')
    rows.push(header.map((_, column) => cells[column] ?? ''))
  }
  return { kind: 'table', header, rows }
}

/** Cells of a row; an escaped bar belongs to its cell. */
function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function readParagraph(reader: Reader, depth: number): MarkdownBlock {
  const start = reader.at++
  const goesOn = (line: string): boolean =>
    line.trim() !== '' &&
    !fence.test(line) &&
    !heading.test(line) &&
    !rule.test(line) &&
    !isTable(reader) &&
    (depth >= deepest || (!quote.test(line) && !/^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line)))
  while (reader.at < reader.lines.length && goesOn(reader.lines[reader.at] ?? '')) reader.at++
  const lines = reader.lines.slice(start, reader.at)
  return {
    kind: 'paragraph',
    text: lines
      .map((line) => line.replace(/^[ \t]+/, ''))
      .join('\n')
      .trimEnd(),
  }
}
