/** A stretch of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** As much of a text as is in memory. Whoever reads it waits, and asks for more, where too little is held. */
export interface TextWindow {
  /** A stretch of the text. */
  held: string
  /** Start position in the text. */
  from: number
  /** Whether it reaches to the end of the text. */
  isWhole: boolean
  /** Text before this position is no longer needed. */
  needed: number
  /** Whether nothing goes on before more is added. */
  isWanted: boolean
}

/** A whole text, or the beginning of one. */
export function openText(held: string, isWhole = true): TextWindow {
  return { held, from: 0, isWhole, needed: 0, isWanted: false }
}

/** Adds what comes next, and drops what is not needed. */
export function addText(text: TextWindow, more: string, isLast: boolean): void {
  // One character before tells whether a line begins there.
  const kept = Math.max(text.needed - 1, text.from)
  text.held = text.held.slice(kept - text.from) + more
  text.from = kept
  text.isWhole = isLast
  text.isWanted = false
}

/** A Markdown block. What is no heading, code or table is text: paragraphs, lists, quotations, HTML. */
export type Block =
  | (Span & { readonly kind: 'text' })
  | (Span & { readonly kind: 'heading'; readonly level: number; readonly title: string })
  /** `opening` and `closing` are the fence lines, repeated when the block has to be cut. */
  | (Span & Part & { readonly kind: 'code'; readonly opening: string; readonly closing: string })
  /** `header` holds the header and delimiter rows, repeated when the table has to be cut. */
  | (Span & Part & { readonly kind: 'table'; readonly header: string })

/** A very long block of code or table comes in parts. */
interface Part {
  readonly isContinued?: boolean
  readonly goesOn?: boolean
}

const blank = /^\s*$/
const fence = /^\s*(`{3,}|~{3,})([^`]*)$/
/** Lines that may start a fence or heading. Most do not, and need no other pattern. */
const marked = /^\s*[`~#]/
const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/
const setextUnderline = /^ {0,3}(=+|-{2,})[ \t]*$/
const tableDelimiter = /^[\s|:-]+$/

/** A longer paragraph comes as several blocks, so that finding one never takes long. */
const longestText = 65_536

/** A longer line comes as several, and a longer block of code or table in parts. */
const [longestLine, longestBlock] = [65_536, 262_144]

/** In more, a line end is looked for only as far as a line may reach. */
const longestHeld = 8 * longestLine

/** So much is looked at beyond the beginning of a line: that line, and the next one. */
const lookahead = 3 * longestLine

/** Longer lines are text whatever they look like; patterns need not run over megabytes. */
const longestMarkup = 2000

/** Comes in place of a result where finding the next one takes long: a good moment to let others have their turn. */
export type Pause = undefined

const linesBetweenPauses = 4096

/**
 * Finds the blocks of a Markdown or plain text, in order. Blank lines between blocks belong to none; everything else
 * belongs to exactly one. Front matter is text like any other: extraction takes it off first.
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
    } else if ((open?.kind === 'code' || open?.kind === 'table') && open.end - open.start > longestBlock) {
      yield { ...open, goesOn: true }
      open = { ...open, start, end: start, isContinued: true }
    }
  }
  if (open && open.end > open.start) yield open
}

/** One line of a text: where it lies, without its line end, and where the next one begins. */
interface Line extends Span {
  readonly text: string
  readonly next: number
  /** Whether it only goes on with a very long one. */
  readonly isRest: boolean
}

/** Lines end in LF or CR LF. Read one by one, so that a long text is never split as a whole. */
function lineAt({ held, from }: TextWindow, start: number): Line | undefined {
  const at = start - from
  if (at >= held.length) return undefined
  const isRest = at > 0 && held.charCodeAt(at - 1) !== 10
  let lineEnd = -1
  // A line end far away is none, and is not to be looked for by each piece of a long line.
  if (held.length - at <= longestHeld) lineEnd = held.indexOf('\n', at)
  else {
    const near = held.slice(at, at + longestLine + 1).indexOf('\n')
    lineEnd = near < 0 ? near : at + near
  }
  const isCut = (lineEnd < 0 ? held.length : lineEnd) - at > longestLine
  if (isCut || lineEnd < 0) {
    const end = isCut ? characterEnd(held, at + longestLine) : held.length
    return { start, end: end + from, next: end + from, text: held.slice(at, end), isRest }
  }
  const end = lineEnd > at && held[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd
  return { start, end: end + from, next: lineEnd + 1 + from, text: held.slice(at, end), isRest }
}

const joining = /^(?:\p{M}|\u200d|\p{Emoji_Modifier})/u

/** The first place from `at` on that is not inside a character: no half surrogate, no mark without its letter. */
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

/** A block that further lines may belong to. */
type Open = Block & { end: number; isWhole?: boolean }

/** Adds a line to the block before it; false when it does not belong there. */
function takeLine(open: Open, line: Line, text: TextWindow): boolean {
  if (open.kind === 'heading') return line.end <= open.end
  if (open.kind === 'code') {
    // A fence without a closing one reaches to the end of the text, as in CommonMark.
    const closing = line.text.length <= longestMarkup && !line.isRest ? fence.exec(line.text) : null
    open.isWhole = closing !== null && closing[1]!.startsWith(open.closing) && blank.test(closing[2]!)
  } else {
    if (blank.test(line.text)) return false
    if (open.kind === 'table' && !line.text.includes('|')) return false
    if (open.kind === 'text' && (line.end - open.start > longestText || markupAt(text, line))) return false
  }
  open.end = line.end
  return true
}

/** A line that begins a code block or a table, or is a heading; undefined for any other. */
function markupAt(text: TextWindow, { start, end, text: line, next, isRest }: Line): Open | undefined {
  if (line.length > longestMarkup || isRest) return undefined
  if (marked.test(line)) {
    const mark = fence.exec(line)?.[1]
    if (mark) return { kind: 'code', start, end, opening: line, closing: mark }
    const heading = atxHeading.exec(line)
    const title = (heading?.[2] ?? '').replace(/[ \t]#+[ \t]*$/, '').trim()
    if (heading) return { kind: 'heading', start, end, level: heading[1]!.length, title }
  }
  if (!line.includes('|')) return undefined
  const delimiter = lineAt(text, next)?.text ?? ''
  const isTable = delimiter.length <= longestMarkup && tableDelimiter.test(delimiter)
  if (!isTable || !delimiter.includes('|') || !delimiter.includes('-')) return undefined
  return { kind: 'table', start, end, header: `${line}\n${delimiter}` }
}

/** A line over an underline is a heading, any other one begins a text. */
function textAt(text: TextWindow, { start, end, text: line, next, isRest }: Line): Open {
  const under = line.length <= longestMarkup && !isRest ? lineAt(text, next) : undefined
  const underline = under && under.text.length <= longestMarkup ? setextUnderline.exec(under.text)?.[1] : undefined
  if (!under || !underline) return { kind: 'text', start, end }
  return { kind: 'heading', start, end: under.end, level: underline.startsWith('=') ? 1 : 2, title: line.trim() }
}

/**
 * Estimates the tokens of a piece of text without a tokenizer: a quarter of a token for an ASCII character, half of one
 * for other alphabets, a whole one for ideographs, Hangul and kana. English prose comes out about 10 % too high.
 * @param start first UTF-16 unit counted
 * @param end the one after the last
 * @param enough where counting stops: what is above it is only told to be above it
 * @returns a number that may be fractional, so that counts of parts add up to the count of the whole
 */
export function estimateTokens(text: string, start = 0, end: number = text.length, enough: number = Infinity): number {
  let quarters = 0
  for (let at = start; at < end && quarters <= enough * 4; at++) {
    const unit = text.charCodeAt(at)
    // A surrogate is half a character, so an emoji counts as two.
    quarters += unit < 0x80 ? 1 : unit < 0x2e80 ? 2 : 4
  }
  return quarters / 4
}
