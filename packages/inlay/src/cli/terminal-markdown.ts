import type { Output } from './output.ts'
import { drawTable, isTable, tableLine } from './terminal-table.ts'
import { createWordWrap } from './word-wrap.ts'

/** Renders Markdown on a terminal. The text may arrive in arbitrary pieces. */
export interface TerminalMarkdown {
  push(piece: string): string
  /** Returns text that was held back: the last word, or what the rest of its line could have changed. */
  end(): string
}

type Styled = Output['styled']

/** Matches the beginning of a line whose type is not known yet. */
const undecidedLine = /^\s*(?:#{0,6}|`{1,3}[^`\n]*|~{1,3}[^~\n]*)$/
/** Matches the end of a text that could become markup, an escape or a link. */
const undecidedEnd = /(?:\\[!-~]?|\*{1,2}|\[[^\]\n]{0,200}\]?|\[[^\]\n]{0,200}\]\([^)\n]{0,2000})$/

/** Code, bold marks, links and escapes. */
const inline = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|\*\*|\[([^[\]\n]+)\]\(([^()\s]*)\)|\\([!-/:-@[-`{-~])/g

interface Position {
  isLineStart: boolean
  isHeading: boolean
  isFence: boolean
  isBold: boolean
}

/**
 * Shows headings, bold words and code by style instead of markup, a link as its text and URL, and tables with columns
 * that fit. Everything else stays unchanged, wrapped at words except for code. Removes control characters, since a
 * document must not control the terminal.
 * @param columns width of the terminal; may change while text arrives
 */
export function createTerminalMarkdown(styled: Styled, columns: () => number): TerminalMarkdown {
  const position: Position = { isLineStart: true, isHeading: false, isFence: false, isBold: false }
  const wrap = createWordWrap(columns)
  let held = ''
  let table: string[] = []

  const wrapLine = (text: string): string => (position.isFence ? wrap.raw(text) : wrap.push(text))
  const mayBeTable = (line: string): boolean => position.isLineStart && !position.isFence && tableLine.test(line)

  function take(isEnd: boolean): string {
    let shown = ''
    for (let at = held.indexOf('\n'); at !== -1; at = held.indexOf('\n')) {
      shown += takeWhole(held.slice(0, at), '\n')
      held = held.slice(at + 1)
    }
    if (isEnd) {
      const last = takeWhole(held, '')
      held = ''
      return shown + last + takeTable() + wrap.end()
    }
    if (held === '' || mayBeTable(held)) return shown
    shown += takeTable()
    const { shown: tail, rest } = takeLine(held, undefined, position, styled)
    held = rest
    return shown + wrapLine(tail)
  }

  function takeWhole(line: string, end: '\n' | ''): string {
    if (mayBeTable(line)) {
      table.push(line + end)
      return ''
    }
    const before = takeTable()
    const shown = wrapLine(takeLine(line, end, position, styled).shown)
    position.isLineStart = true
    position.isHeading = false
    return before + shown
  }

  function takeTable(): string {
    if (table.length === 0) return ''
    const text = table.join('')
    const lines = table.map((line) => line.replace('\n', ''))
    table = []
    if (!isTable(lines)) return wrap.push(takeInline(text, true, position, styled).shown)
    return wrap.raw(drawTable(lines, columns(), styled, withoutMarkup) + (text.endsWith('\n') ? '\n' : ''))
  }

  return {
    push(piece) {
      held += plain(piece)
      return take(false)
    },
    end: () => take(true),
  }
}

const withoutMarkup = (text: string): string =>
  takeInline(text, true, { isLineStart: false, isHeading: false, isFence: false, isBold: false }, (_, part) => part)
    .shown

/** A line split into the part that can be shown, and the part that has to wait. */
interface Taken {
  readonly shown: string
  readonly rest: string
}

/** @param end the line break, "" at the end of the text, undefined if the line is incomplete */
function takeLine(line: string, end: '\n' | '' | undefined, position: Position, styled: Styled): Taken {
  let text = line
  if (position.isLineStart) {
    if (end !== undefined && line.trim() === '') position.isBold = false
    if (end === undefined && undecidedLine.test(line)) return { shown: '', rest: line }
    if (/^\s*(?:`{3,}|~{3})[^`]*$/.test(line)) {
      position.isFence = !position.isFence
      return { shown: '', rest: '' }
    }
    const heading = position.isFence ? undefined : /^\s{0,3}#{1,6}\s+/.exec(line)?.[0]
    position.isHeading = heading !== undefined
    position.isLineStart = false
    text = line.slice(heading?.length ?? 0)
  }
  const { shown, rest } = takeInline(text, end !== undefined, position, styled)
  return { shown: shown + (end ?? ''), rest }
}

function takeInline(text: string, isWhole: boolean, position: Position, styled: Styled): Taken {
  if (position.isFence) return { shown: text, rest: '' }
  const stop = isWhole ? text.length : decidedLength(text)
  const inStyle = (part: string): string =>
    part !== '' && (position.isBold || position.isHeading) ? styled('bold', part) : part
  let shown = ''
  let from = 0
  for (const match of text.slice(0, stop).matchAll(inline)) {
    const [mark, , code, label, address, escaped] = match
    shown += inStyle(text.slice(from, match.index))
    from = match.index + mark.length
    if (code !== undefined) shown += styled('dim', code.trim())
    else if (label !== undefined) shown += inStyle(label) + (address === '' ? '' : ` (${address})`)
    else if (escaped !== undefined) shown += inStyle(escaped)
    else position.isBold = !position.isBold
  }
  return { shown: shown + inStyle(text.slice(from, stop)), rest: text.slice(stop) }
}

/** Length of the part of a line that later text cannot change: up to an open code span or possible markup. */
function decidedLength(text: string): number {
  const cut = text.search(undecidedEnd)
  const decided = cut === -1 ? text.length : cut
  const code = openCode(text.slice(0, decided))
  return code === -1 ? decided : code
}

/** Removes characters that control a terminal, except line breaks and tabs. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- matches the characters to remove
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}

/** Start of a code span that is not closed in the text; -1 if there is none. */
function openCode(text: string): number {
  let open = -1
  let ticks = ''
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (open === -1) [open, ticks] = [index, run]
    else if (run === ticks) open = -1
  }
  return open
}
