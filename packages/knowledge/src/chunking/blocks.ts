/** A range of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The part of a text that is in memory. If it is too short, the reader pauses until more text is added. */
export interface TextWindow {
  held: string
  /** Start position in the text. */
  from: number
  /** Whether the part in memory reaches the end of the text. */
  isWhole: boolean
  /** Text before this position is no longer needed. */
  needed: number
  /** Whether reading cannot continue until more text is added. */
  isWanted: boolean
}

export function openText(held: string, isWhole = true): TextWindow {
  return { held, from: 0, isWhole, needed: 0, isWanted: false }
}

/** Appends more text and drops text that is no longer needed. */
export function addText(text: TextWindow, more: string, isLast: boolean): void {
  // One character before is needed to detect the beginning of a line.
  const kept = Math.max(text.needed - 1, text.from)
  text.held = text.held.slice(kept - text.from) + more
  text.from = kept
  text.isWhole = isLast
  text.isWanted = false
}

/** A Markdown block. Anything other than a heading, code or table is text: paragraphs, lists, quotations, HTML. */
export type Block =
  | (Span & { readonly kind: 'text' })
  | (Span & { readonly kind: 'heading'; readonly level: number; readonly title: string })
  /** `opening` and `closing` are the fence lines, repeated if the block has to be split. */
  | (Span & Part & { readonly kind: 'code'; readonly opening: string; readonly closing: string })
  /** `header` contains the header and delimiter rows, repeated if the table has to be split. */
  | (Span & Part & { readonly kind: 'table'; readonly header: string })

/** A very long block of code or table is returned in parts. */
interface Part {
  readonly isContinued?: boolean
  readonly goesOn?: boolean
}

const blank = /^\s*$/
const fence = /^\s*(`{3,}|~{3,}(?!~))([^`]*)$/
/** Lines that may start a fence or heading. Most lines do not match and need no further pattern. */
const marked = /^\s*[`~#]/
const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+([^ \t].*)?)?$/
const setextUnderline = /^ {0,3}(=+|-{2,})[ \t]*$/
const tableDelimiter = /^[\s|:-]+$/

/** A longer paragraph is returned as several blocks, to bound the time to find a block. */
const maxTextLength = 65_536

/** A longer line is treated as several lines, and a longer block of code or table is returned in parts. */
const [maxLineLength, maxBlockLength] = [65_536, 262_144]

/** If more text than this is in memory, line ends are searched only within the maximum line length. */
const maxHeldLength = 8 * maxLineLength

/** Maximum number of characters read beyond the beginning of a line: the line and the next one. */
const lookahead = 3 * maxLineLength

/** Longer lines are always text, so that patterns do not run over megabytes. */
const maxMarkupLength = 2000

/** In place of a result while finding the next one takes long, so that the caller can yield to the event loop. */
export type Pause = undefined

const linesBetweenPauses = 4096

/**
 * Finds the blocks of a Markdown or plain text, in order. Blank lines between blocks belong to no block; everything
 * else belongs to exactly one. Front matter counts as text: extraction removes it before.
 */
export function* findBlocks(text: TextWindow): Generator<Block | Pause> {
  let open: Open | undefined
  let [start, lines] = [0, 0]
  for (;;) {
    while (!text.isWhole && text.from + text.held.length - start < lookahead) {
      text.needed = open?.start ?? start
      text.isWanted = true
      yield undefined
    }
    const line = lineAt(text, start)
    if (!line) break
    start = line.next
    if (++lines % linesBetweenPauses === 0) yield undefined
    if (open && !takeLine(open, line, text)) {
      if (open.end > open.start) yield open
      open = undefined
    }
    if (!open && !blank.test(line.text)) open = markupAt(text, line) ?? textAt(text, line)
    if (open?.isWhole) {
      yield open
      open = undefined
    } else if ((open?.kind === 'code' || open?.kind === 'table') && open.end - open.start > maxBlockLength) {
      yield { ...open, goesOn: true }
      open = { ...open, start, end: start, isContinued: true }
    }
  }
  if (open && open.end > open.start) yield open
}

/** One line of a text: its range without the line end, and the start of the next line. */
interface Line extends Span {
  readonly text: string
  readonly next: number
  /** Whether it is the continuation of a very long line. */
  readonly isRest: boolean
}

/** Lines end in LF or CR LF. Read one by one, so that a long text is never split as a whole. */
function lineAt({ held, from }: TextWindow, start: number): Line | undefined {
  const at = start - from
  if (at >= held.length) return undefined
  const isRest = at > 0 && held.charCodeAt(at - 1) !== 10
  let lineEnd = -1
  // Without this limit, each piece of a very long line would search for its distant end again.
  if (held.length - at <= maxHeldLength) lineEnd = held.indexOf('\n', at)
  else {
    const near = held.slice(at, at + maxLineLength + 1).indexOf('\n')
    lineEnd = near < 0 ? near : at + near
  }
  const isCut = (lineEnd < 0 ? held.length : lineEnd) - at > maxLineLength
  if (isCut || lineEnd < 0) {
    const end = isCut ? characterEnd(held, at + maxLineLength) : held.length
    return { start, end: end + from, next: end + from, text: held.slice(at, end), isRest }
  }
  const end = lineEnd > at && held[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd
  return { start, end: end + from, next: lineEnd + 1 + from, text: held.slice(at, end), isRest }
}

const joining = /^(?:\p{M}|\u200d|\p{Emoji_Modifier})/u

/** The first position from `at` on that splits neither a surrogate pair nor a letter and its combining marks. */
export function characterEnd(text: string, at: number): number {
  let end = at
  const bound = Math.min(text.length, at + 64)
  while (end < bound) {
    const unit = text.charCodeAt(end)
    const isInside = (unit & 0xfc00) === 0xdc00 || text.charCodeAt(end - 1) === 0x200d
    if (!isInside && (unit < 0x300 || !joining.test(text.slice(end, end + 2)))) break
    end++
  }
  return end
}

/** A block that may still grow by further lines. */
type Open = Block & { end: number; isWhole?: boolean }

/** Adds a line to the block before it; false if the line does not belong to it. */
function takeLine(open: Open, line: Line, text: TextWindow): boolean {
  if (open.kind === 'heading') return line.end <= open.end
  if (open.kind === 'code') {
    // A fence that is never closed extends to the end of the text, as in CommonMark.
    const closing = line.text.length <= maxMarkupLength && !line.isRest ? fence.exec(line.text) : null
    open.isWhole = closing !== null && closing[1]!.startsWith(open.closing) && blank.test(closing[2]!)
  } else {
    if (blank.test(line.text)) return false
    if (open.kind === 'table' && !line.text.includes('|')) return false
    if (open.kind === 'text' && (line.end - open.start > maxTextLength || markupAt(text, line))) return false
  }
  open.end = line.end
  return true
}

/** The block that a line begins, if it is a code block, a table or a heading; undefined otherwise. */
function markupAt(text: TextWindow, { start, end, text: line, next, isRest }: Line): Open | undefined {
  if (line.length > maxMarkupLength || isRest) return undefined
  if (marked.test(line)) {
    const mark = fence.exec(line)?.[1]
    if (mark) return { kind: 'code', start, end, opening: line, closing: mark }
    const heading = atxHeading.exec(line)
    const title = (heading?.[2] ?? '').replace(/[ \t]#+[ \t]*$/, '').trim()
    if (heading) return { kind: 'heading', start, end, level: heading[1]!.length, title }
  }
  if (!line.includes('|')) return undefined
  const delimiter = lineAt(text, next)?.text ?? ''
  const isTable = delimiter.length <= maxMarkupLength && tableDelimiter.test(delimiter)
  if (!isTable || !delimiter.includes('|') || !delimiter.includes('-')) return undefined
  return { kind: 'table', start, end, header: `${line}\n${delimiter}` }
}

/** The block that any other line begins: a heading if the next line underlines it, otherwise text. */
function textAt(text: TextWindow, { start, end, text: line, next, isRest }: Line): Open {
  const under = line.length <= maxMarkupLength && !isRest ? lineAt(text, next) : undefined
  const underline = under && under.text.length <= maxMarkupLength ? setextUnderline.exec(under.text)?.[1] : undefined
  if (!under || !underline) return { kind: 'text', start, end }
  return { kind: 'heading', start, end: under.end, level: underline.startsWith('=') ? 1 : 2, title: line.trim() }
}

// oxlint-disable-next-line no-control-regex
const beyondAscii = /[^\u0000-\u007f]/

/**
 * Estimates the tokens of a text without a tokenizer: a quarter of a token per ASCII character, half a token for other
 * alphabets, a whole token for ideographs, Hangul and kana. About 10 % too high for English prose.
 * @param start first UTF-16 unit counted
 * @param end the unit after the last
 * @param enough stops counting at this number: any higher result only means "more"
 * @returns a number that may be fractional, so that the counts of parts add up to the count of the whole
 */
export function estimateTokens(text: string, start = 0, end: number = text.length, enough: number = Infinity): number {
  // Most text is ASCII, and a search takes a fifth of the time of a loop.
  const last = Math.min(end, Math.ceil(start + enough * 4))
  const asciiLength = text.slice(start, last).search(beyondAscii)
  let at = asciiLength < 0 ? Math.max(start, last) : start + asciiLength
  let quarters = at - start
  for (; at < end && quarters <= enough * 4; at++) {
    const unit = text.charCodeAt(at)
    // A surrogate is half a character, so an emoji counts as two tokens.
    quarters += unit < 0x80 ? 1 : unit < 0x2e80 ? 2 : 4
  }
  return quarters / 4
}
