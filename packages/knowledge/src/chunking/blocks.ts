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
const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/
const setextUnderline = /^ {0,3}(=+|-{2,})[ \t]*$/
const tableDelimiter = /^[\s|:-]+$/

/** A longer paragraph comes as several blocks, so that finding one never takes long. */
const longestText = 65_536

/** Longer lines are text whatever they look like; patterns need not run over megabytes. */
const longestMarkup = 2000

/** Comes in place of a result where finding the next one takes long: a good moment to let others have their turn. */
export type Pause = undefined

/**
 * Finds the blocks of a Markdown or plain text, in order. Blank lines between blocks belong to none; everything else
 * belongs to exactly one. Front matter is text like any other: extraction takes it off first.
 */
export function* findBlocks(text: string): Generator<Block | Pause> {
  const lines = readLines(text)
  for (let line = lines.peek(); line; line = lines.peek()) {
    if (isBlank(line)) {
      lines.skip()
      if (lines.isPauseDue()) yield undefined
    } else yield (yield* readCode(lines)) ?? readHeading(lines) ?? (yield* readTable(lines)) ?? readText(lines)
  }
}

function isBlank(line: Line | undefined): boolean {
  return line === undefined || blank.test(line.text)
}

function match(pattern: RegExp, line: Line | undefined): RegExpExecArray | null {
  return line && line.text.length <= longestMarkup ? pattern.exec(line.text) : null
}

/** Whether a line may begin a fence or a heading: most do not, and no pattern has to look at them. */
function isMarked(line: Line | undefined): boolean {
  if (!line) return false
  let at = 0
  while (at < line.text.length && line.text.charCodeAt(at) <= 32) at++
  const first = line.text[at]
  return first === '`' || first === '~' || first === '#'
}

/** A fence without a closing one reaches to the end of the text, as in CommonMark. */
function* readCode(lines: Lines): Generator<Pause, Block | undefined> {
  const first = lines.peek()!
  const mark = match(fence, first)?.[1]
  if (!mark) return undefined
  let last = first
  lines.skip()
  for (let line = lines.peek(); line; line = lines.peek()) {
    lines.skip()
    if (lines.isPauseDue()) yield undefined
    last = line
    const closing = isMarked(line) ? match(fence, line) : null
    if (closing?.[1]!.startsWith(mark) && blank.test(closing[2]!)) break
  }
  return { kind: 'code', start: first.start, end: last.end, opening: first.text, closing: mark }
}

function readHeading(lines: Lines): Block | undefined {
  const line = lines.peek()!
  const heading = match(atxHeading, line)
  if (!heading) return undefined
  lines.skip()
  const title = (heading[2] ?? '').replace(/[ \t]#+[ \t]*$/, '').trim()
  return { kind: 'heading', start: line.start, end: line.end, level: heading[1]!.length, title }
}

function isTableStart(lines: Lines, ahead = 0): boolean {
  const line = lines.peek(ahead)
  if (!line || line.text.length > longestMarkup || !line.text.includes('|')) return false
  const delimiter = match(tableDelimiter, lines.peek(ahead + 1))
  return delimiter !== null && delimiter[0].includes('|') && delimiter[0].includes('-')
}

function* readTable(lines: Lines): Generator<Pause, Block | undefined> {
  if (!isTableStart(lines)) return undefined
  const first = lines.peek()!
  const header = `${first.text}\n${lines.peek(1)!.text}`
  let last = lines.peek(1)!
  lines.skip()
  lines.skip()
  for (let line = lines.peek(); line && !isBlank(line) && line.text.includes('|'); line = lines.peek()) {
    last = line
    lines.skip()
    if (lines.isPauseDue()) yield undefined
  }
  return { kind: 'table', start: first.start, end: last.end, header }
}

/** Up to a blank line or another kind of block; one line over an underline is a heading. */
function readText(lines: Lines): Block {
  const first = lines.peek()!
  lines.skip()
  const underline = match(setextUnderline, lines.peek())
  if (underline && first.text.length <= longestMarkup) {
    const last = lines.peek()!
    lines.skip()
    const level = underline[1]!.startsWith('=') ? 1 : 2
    return { kind: 'heading', start: first.start, end: last.end, level, title: first.text.trim() }
  }
  let last = first
  for (let line = lines.peek(); line && !isBlank(line); line = lines.peek()) {
    if (line.end - first.start > longestText) break
    if ((isMarked(line) && (match(fence, line) || match(atxHeading, line))) || isTableStart(lines)) break
    last = line
    lines.skip()
  }
  return { kind: 'text', start: first.start, end: last.end }
}

/** One line of a text: where it lies, without its line end, and what it says. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Reads a text line by line, so that a long text is never split as a whole. */
export interface Lines {
  /** The line that comes next, or the one `ahead` lines later; undefined after the last. */
  peek(ahead?: number): Line | undefined
  /** Goes on to the next line. */
  skip(): void
  /** True once every few thousand lines. */
  isPauseDue(): boolean
}

const linesBetweenPauses = 4096

/** Begins to read. Lines end in LF or CR LF. */
export function readLines(text: string): Lines {
  const upcoming: Line[] = []
  let position = 0
  let skipped = 0
  function read(): Line | undefined {
    if (position >= text.length) return undefined
    const start = position
    const lineEnd = text.indexOf('\n', start)
    position = lineEnd < 0 ? text.length : lineEnd + 1
    const end = lineEnd < 0 ? text.length : lineEnd > start && text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd
    return { start, end, text: text.slice(start, end) }
  }
  return {
    peek: (ahead = 0) => {
      while (upcoming.length <= ahead) {
        const line = read()
        if (!line) return undefined
        upcoming.push(line)
      }
      return upcoming[ahead]
    },
    isPauseDue: () => skipped % linesBetweenPauses === 0,
    skip: () => {
      skipped++
      if (upcoming.length > 0) upcoming.shift()
      else read()
    },
  }
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
