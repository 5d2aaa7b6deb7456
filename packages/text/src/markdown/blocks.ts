import { parseInline, type InlineOptions } from './inline.ts'
import type { AlertKind, Alignment, Block, Inline, ListItem } from './tree.ts'

const fence = /^ {0,3}(?:(`{3,})(?=[^`]*$)|(~{3,}))/
const heading = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/
const rule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)([^ \t].*)?)?$/
const separator = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/
const details = /^ {0,3}<details( open)?>(.*)$/i
const formula = /^ {0,3}(\$\$|\\\[)(.*)$/
const alert = /^\[!(note|tip|important|warning|caution)\][ \t]*$/i
const definition = /^ {0,3}\[([^\]^][^\]]{0,200})\]:[ \t]*<?([^\s>]+)>?(?:[ \t]+(?:".*"|'.*'|\(.*\)))?[ \t]*$/
const footnote = /^ {0,3}\[\^([^\s\]^]{1,60})\]:(.*)$/

/** Maximum nesting of quotes, lists and details; deeper ones are text. */
const maxDepth = 12

/** A block with the number of its first line. */
export interface PlacedBlock {
  readonly line: number
  readonly block: Block
}

export interface FootnoteText {
  readonly label: string
  readonly lines: readonly string[]
}

interface Reader {
  readonly lines: readonly string[]
  at: number
  readonly depth: number
  readonly options: InlineOptions
  /** By label. */
  readonly footnotes: Map<string, FootnoteText>
  /** The line before which no formula is closed, by its opening: each line may open one. */
  readonly textUntil: Map<string, number>
}

/** Parses lines to blocks. An unclosed block extends to the end. */
export function parseBlocks(
  lines: readonly string[],
  options: InlineOptions,
): { readonly blocks: readonly PlacedBlock[]; readonly footnotes: readonly FootnoteText[] } {
  const reader: Reader = { lines, at: 0, depth: 0, options, footnotes: new Map(), textUntil: new Map() }
  return { blocks: readAll(reader), footnotes: [...reader.footnotes.values()] }
}

/** Link targets defined by `[label]: url`, by label. */
export function referencesOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const references = new Map<string, string>()
  for (const line of lines) {
    const [, label, address] = line.includes(']:') ? (definition.exec(line) ?? []) : []
    const name = label?.trim().toLowerCase()
    if (name !== undefined && address !== undefined && !references.has(name)) references.set(name, address)
  }
  return references
}

function readAll(reader: Reader): PlacedBlock[] {
  const blocks: PlacedBlock[] = []
  while (reader.at < reader.lines.length) {
    const line = reader.at
    const block = readBlock(reader)
    if (block !== undefined) blocks.push({ line, block })
  }
  return blocks
}

function blocksOf(lines: readonly string[], reader: Reader): readonly Block[] {
  const { depth, footnotes } = reader
  const inner = { lines, at: 0, depth: depth + 1, options: optionsOf(reader), footnotes, textUntil: new Map() }
  return readAll(inner).map(({ block }) => block)
}

/** Options for the block just read: only a block at the end of the text can still grow. */
const optionsOf = ({ options, at, lines }: Reader): InlineOptions =>
  options.isGrowing && at < lines.length ? { ...options, isGrowing: false } : options

const lineOf = ({ lines, at }: Reader): string => lines[at] ?? ''

function readBlock(reader: Reader): Block | undefined {
  const line = lineOf(reader)
  if (line.trim() === '') {
    reader.at++
    return undefined
  }
  if (/^(?: {4}|\t)/.test(line)) return readIndentedCode(reader)
  if (fence.test(line)) return readCode(reader)
  const [, marks, text] = heading.exec(line) ?? []
  if (marks !== undefined) {
    reader.at++
    return {
      kind: 'heading',
      level: marks.length,
      inlines: inline(
        (text ?? '')
          .trim()
          .replace(/(?:^|[ \t])#+$/, '')
          .trimEnd(),
        reader,
      ),
    }
  }
  if (rule.test(line)) {
    reader.at++
    return { kind: 'rule' }
  }
  if (reader.depth < maxDepth) {
    if (quote.test(line)) return readQuote(reader)
    if (item.test(line)) return readList(reader)
    if (details.test(line)) return readDetails(reader)
  }
  if (footnote.test(line)) return readFootnote(reader)
  if (line.includes(']:') && definition.test(line)) {
    reader.at++
    return undefined
  }
  if (isTable(reader)) return readTable(reader)
  return readFormula(reader) ?? readParagraph(reader)
}

const inline = (text: string, reader: Reader): readonly Inline[] => parseInline(text, optionsOf(reader))

function readIndentedCode(reader: Reader): Block {
  const lines: string[] = []
  for (
    ;
    /^(?: {4}|\t)/.test(lineOf(reader)) || (lineOf(reader).trim() === '' && reader.at < reader.lines.length);
    reader.at++
  )
    lines.push(lineOf(reader).replace(/^(?: {4}|\t)/, ''))
  return { kind: 'code', language: '', text: lines.join('\n').trimEnd() }
}

function readCode(reader: Reader): Block {
  const first = lineOf(reader)
  const [opening = '', backticks, marks = backticks ?? '```'] = fence.exec(first) ?? []
  const [language = ''] = /^[^\s`]*/.exec(first.slice(opening.length).trimStart()) ?? []
  const indent = first.length - first.trimStart().length
  reader.at++
  const start = reader.at
  const isEnd = (line: string): boolean => {
    const trimmed = line.trim()
    return trimmed.startsWith(marks) && trimmed.replaceAll(marks[0] ?? '`', '') === ''
  }
  while (reader.at < reader.lines.length && !isEnd(lineOf(reader))) reader.at++
  const lines = reader.lines.slice(start, reader.at++)
  const spaces = ['', /^ /, /^ {1,2}/, /^ {1,3}/][indent] ?? ''
  const text = (spaces === '' ? lines : lines.map((line) => line.replace(spaces, ''))).join('\n')
  return { kind: 'code', language, text }
}

function readFormula(reader: Reader): Block | undefined {
  const [, open, rest = ''] = formula.exec(lineOf(reader)) ?? []
  if (open === undefined) return undefined
  const close = open === '$$' ? '$$' : '\\]'
  if (reader.at < (reader.textUntil.get(open) ?? 0)) return undefined
  const lines = [rest]
  let at = reader.at
  // A formula that is never closed ends with its paragraph.
  while (!lines.at(-1)?.includes(close)) {
    const next = reader.lines[++at]
    if (next === undefined || next.trim() === '') break
    lines.push(next)
  }
  const last = lines.at(-1) ?? ''
  if (!last.includes(close) || last.slice(last.indexOf(close) + 2).trim() !== '') {
    reader.textUntil.set(open, at)
    return undefined
  }
  reader.at = at + 1
  const whole = lines.join('\n')
  return { kind: 'math', text: whole.slice(0, whole.lastIndexOf(close)).trim() }
}

function readQuote(reader: Reader): Block {
  const inner: string[] = []
  for (; quote.test(lineOf(reader)); reader.at++) inner.push(lineOf(reader).replace(quote, ''))
  const kind = alert.exec(inner[0] ?? '')?.[1]?.toLowerCase()
  if (kind === undefined) return { kind: 'quote', blocks: blocksOf(inner, reader) }
  // The pattern only matches these words.
  return { kind: 'alert', alert: kind as AlertKind, blocks: blocksOf(inner.slice(1), reader) }
}

function readDetails(reader: Reader): Block {
  const [, open, rest = ''] = details.exec(lineOf(reader)) ?? []
  reader.at++
  const [, only] = /^(.*?)<\/details>[ \t]*$/i.exec(rest) ?? []
  const inner = [(only ?? rest).trimStart()]
  for (let level = only === undefined ? 1 : 0; level > 0 && reader.at < reader.lines.length; reader.at++) {
    const line = lineOf(reader)
    if (details.test(line)) level++
    const end = /^(.*?)<\/details>[ \t]*$/i.exec(line)
    if (end !== null && --level === 0) {
      inner.push(end[1] ?? '')
      reader.at++
      break
    }
    inner.push(line)
  }
  const whole = inner.join('\n')
  const [head, summary = ''] = /^\s*<summary>([^]*?)<\/summary>/i.exec(whole) ?? ['']
  return {
    kind: 'details',
    summary: inline(summary.trim(), reader),
    isOpen: open !== undefined,
    blocks: blocksOf(whole.slice(head.length).split('\n'), reader),
  }
}

function readFootnote(reader: Reader): undefined {
  const [, label = '', text = ''] = footnote.exec(lineOf(reader)) ?? []
  const lines = [text.trimStart()]
  reader.at++
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = lineOf(reader)
    const goesOn =
      line.trim() === '' ? /^(?: {2,}|\t)\S/.test(reader.lines[reader.at + 1] ?? '') : /^(?: {2,}|\t)/.test(line)
    if (!goesOn) break
    lines.push(line.replace(/^(?: {1,4}|\t)/, ''))
  }
  if (!reader.footnotes.has(label)) reader.footnotes.set(label, { label, lines })
  return undefined
}

function readList(reader: Reader): Block {
  const kindOf = (marker: string): string => marker.at(-1) ?? ''
  const [, , first = '-'] = item.exec(lineOf(reader)) ?? []
  const items: ListItem[] = []
  let isTight = true
  for (;;) {
    const [, indent = '', marker, gap = ' ', text = ''] = item.exec(lineOf(reader)) ?? []
    if (marker === undefined || kindOf(marker) !== kindOf(first) || (items.length > 0 && rule.test(lineOf(reader))))
      break
    reader.at++
    const width = indent.length + marker.length + (gap.length > 4 ? 1 : gap.length)
    const { lines, isLoose, endsBlank } = readItem(reader, width)
    const [, box, rest = ''] = /^\[([ xX])\](?:[ \t]+([^ \t].*)?)?$/.exec(text) ?? []
    const inner = [gap.length > 4 ? `${gap.slice(1)}${text}` : box === undefined ? text : rest, ...lines]
    items.push({ isChecked: box === undefined ? null : box !== ' ', blocks: blocksOf(inner, reader) })
    if (isLoose || (endsBlank && item.test(lineOf(reader)))) isTight = false
  }
  return { kind: 'list', start: /^\d/.test(first) ? Number.parseInt(first, 10) : undefined, isTight, items }
}

/** The lines after the first: indented ones, blank ones between them, and those that continue its paragraph. */
function readItem(reader: Reader, width: number): { lines: string[]; isLoose: boolean; endsBlank: boolean } {
  const { lines } = reader
  const inner: string[] = []
  let isLoose = false
  while (reader.at < lines.length) {
    const line = lineOf(reader)
    const indent = line.length - line.trimStart().length
    const isBlank = line.trim() === ''
    if (isBlank) {
      const next = lines[reader.at + 1] ?? ''
      // Models often indent less than the width of the marker.
      if (next.trim() === '' || next.length - next.trimStart().length < Math.min(width, 2)) break
      if (!item.test(next.slice(Math.min(width, 2)))) isLoose = true
    } else if (indent < Math.min(width, 2) && (inner.at(-1) === '' || startsBlock(line))) break
    inner.push(isBlank ? '' : line.slice(Math.min(indent, width)))
    reader.at++
  }
  // A blank line between two items.
  const endsBlank = lineOf(reader).trim() === '' && reader.at < lines.length && item.test(lines[reader.at + 1] ?? '')
  if (endsBlank) reader.at++
  return { lines: inner, isLoose, endsBlank }
}

const startsBlock = (line: string): boolean =>
  [fence, heading, rule, quote, item, details, footnote].some((form) => form.test(line))

function isTable({ lines, at }: Reader): boolean {
  const [head = '', below = ''] = [lines[at], lines[at + 1]]
  return (
    head.includes('|') && below.includes('-') && separator.test(below) && cellsOf(head).length === cellsOf(below).length
  )
}

function readTable(reader: Reader): Block {
  const header = cellsOf(lineOf(reader))
  reader.at++
  const alignments = cellsOf(lineOf(reader)).map((cell): Alignment => {
    const [left, right] = [cell.startsWith(':'), cell.endsWith(':')]
    return left && right ? 'center' : right ? 'right' : left ? 'left' : null
  })
  reader.at++
  const rows: (readonly Inline[])[][] = []
  for (; lineOf(reader).includes('|'); reader.at++) {
    const cells = cellsOf(lineOf(reader))
    rows.push(header.map((_, column) => inline(cells[column] ?? '', reader)))
  }
  return { kind: 'table', alignments, header: header.map((cell) => inline(cell, reader)), rows }
}

/** Splits a row of a table into cells; an escaped bar is part of its cell. */
export function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function readParagraph(reader: Reader): Block {
  const start = reader.at++
  const goesOn = (line: string): boolean =>
    line.trim() !== '' &&
    !fence.test(line) &&
    !heading.test(line) &&
    !rule.test(line) &&
    !formula.test(line) &&
    !footnote.test(line) &&
    !isTable(reader) &&
    (reader.depth >= maxDepth ||
      (!quote.test(line) && !details.test(line) && !/^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line)))
  while (reader.at < reader.lines.length && goesOn(lineOf(reader))) {
    if (/^ {0,3}={3,}[ \t]*$/.test(lineOf(reader))) {
      const text = reader.lines
        .slice(start, reader.at++)
        .join('\n')
        .trim()
      return { kind: 'heading', level: 1, inlines: inline(text, reader) }
    }
    reader.at++
  }
  const text = reader.lines
    .slice(start, reader.at)
    .map((line) => line.replace(/^[ \t]+/, ''))
    .join('\n')
  return { kind: 'paragraph', inlines: inline(text.trimEnd(), reader) }
}
