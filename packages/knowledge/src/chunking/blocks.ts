/** A stretch of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A Markdown block. What is no heading, code or table is text: paragraphs, lists, quotations, HTML. */
export type Block =
  | (Span & { readonly kind: 'text' })
  | (Span & { readonly kind: 'heading'; readonly level: number; readonly title: string })
  /** `opening` and `closing` are the fence lines, repeated when the block has to be cut. */
  | (Span & { readonly kind: 'code'; readonly opening: string; readonly closing: string })
  /** `header` holds the header and delimiter rows, repeated when the table has to be cut. */
  | (Span & { readonly kind: 'table'; readonly header: string })

const blank = /^\s*$/
const fence = /^\s*(`{3,}|~{3,})([^`]*)$/
/** Of lines that may begin a fence or a heading: most do not, and no other pattern has to look at them. */
const marked = /^\s*[`~#]/
const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/
const setextUnderline = /^ {0,3}(=+|-{2,})[ \t]*$/
const tableDelimiter = /^[\s|:-]+$/

/** A longer paragraph comes as several blocks, so that finding one never takes long. */
const longestText = 65_536

/** Longer lines are text whatever they look like; patterns need not run over megabytes. */
const longestMarkup = 2000

/** Comes in place of a result where finding the next one takes long: a good moment to let others have their turn. */
export type Pause = undefined

const linesBetweenPauses = 4096

/**
 * Finds the blocks of a Markdown or plain text, in order. Blank lines between blocks belong to none; everything else
 * belongs to exactly one. Front matter is text like any other: extraction takes it off first.
 */
export function* findBlocks(text: string): Generator<Block | Pause> {
  let open: Open | undefined
  let lines = 0
  for (let line = lineAt(text, 0); line; line = lineAt(text, line.next)) {
    if (++lines % linesBetweenPauses === 0) yield undefined
    if (open && !takeLine(open, line, text)) {
      yield open
      open = undefined
    }
    if (!open && !blank.test(line.text)) open = markupAt(text, line) ?? textAt(text, line)
    if (open?.isWhole) {
      yield open
      open = undefined
    }
  }
  if (open) yield open
}

/** One line of a text: where it lies, without its line end, and where the next one begins. */
interface Line extends Span {
  readonly text: string
  readonly next: number
}

/** Lines end in LF or CR LF. Read one by one, so that a long text is never split as a whole. */
function lineAt(text: string, start: number): Line | undefined {
  if (start >= text.length) return undefined
  const lineEnd = text.indexOf('\n', start)
  if (lineEnd < 0) return { start, end: text.length, next: text.length, text: text.slice(start) }
  const end = lineEnd > start && text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd
  return { start, end, next: lineEnd + 1, text: text.slice(start, end) }
}

/** A block that further lines may belong to. */
type Open = Block & { end: number; isWhole?: boolean }

/** Adds a line to the block before it; false when it does not belong there. */
function takeLine(open: Open, line: Line, text: string): boolean {
  if (open.kind === 'heading') return line.end <= open.end
  if (open.kind === 'code') {
    // A fence without a closing one reaches to the end of the text, as in CommonMark.
    const closing = line.text.length <= longestMarkup ? fence.exec(line.text) : null
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
function markupAt(text: string, { start, end, text: line, next }: Line): Open | undefined {
  if (line.length > longestMarkup) return undefined
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
function textAt(text: string, { start, end, text: line, next }: Line): Open {
  const under = line.length <= longestMarkup ? lineAt(text, next) : undefined
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
