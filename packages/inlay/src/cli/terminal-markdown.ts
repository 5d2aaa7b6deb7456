/** Shows Markdown on a terminal. The text may come in pieces cut anywhere. */
export interface TerminalMarkdown {
  push(piece: string): string
  /** What was held back because more of its line could have changed it. */
  end(): string
}

/** Writes a text in a style, as `Output.styled` does. */
export type Styled = (style: 'bold' | 'dim' | 'red', text: string) => string

/** A beginning of a line that decides what the line is. */
const undecidedLine = /^\s*(?:#{0,6}|`{1,3}[^`\n]*|~{1,3}[^~\n]*)$/
/** The end of a text that could become a mark, an escape or a link. */
const undecidedEnd = /(?:\\[!-~]?|\*{1,2}|\[[^\]\n]{0,200}\]?|\[[^\]\n]{0,200}\]\([^)\n]{0,2000})$/

/**
 * Headings, bold words and code are shown by style instead of marks, a link as its text and address. Everything else
 * stays as it is written. Control characters are left out: a document must not steer the terminal.
 */
export function createTerminalMarkdown(styled: Styled): TerminalMarkdown {
  let held = ''
  let isLineStart = true
  let isHeading = false
  let isFence = false
  let isBold = false

  const inStyle = (text: string): string => (text !== '' && (isBold || isHeading) ? styled('bold', text) : text)

  /** The text of a line up to its end, or up to what is not decided yet. */
  function takeInline(text: string, isEnd: boolean): { shown: string; rest: string } {
    if (isFence) return { shown: text, rest: '' }
    const cut = isEnd ? -1 : text.search(undecidedEnd)
    // An open code span is held until it closes, so that marks in it stay as they are.
    const code = isEnd ? -1 : openCode(cut === -1 ? text : text.slice(0, cut))
    const stop = code !== -1 ? code : cut === -1 ? text.length : cut
    let shown = ''
    let from = 0
    for (const match of text
      .slice(0, stop)
      .matchAll(/(`+)(?!`)(.+?)(?<!`)\1(?!`)|\*\*|\[([^\]\n]+)\]\((\S*?)\)|\\([!-/:-@[-`{-~])/g)) {
      shown += inStyle(text.slice(from, match.index))
      from = match.index + match[0].length
      if (match[2] !== undefined) shown += styled('dim', match[2].trim())
      else if (match[3] !== undefined) shown += inStyle(match[3]) + (match[4] === '' ? '' : ` (${match[4]})`)
      else if (match[5] !== undefined) shown += inStyle(match[5])
      else isBold = !isBold
    }
    return { shown: shown + inStyle(text.slice(from, stop)), rest: text.slice(stop) }
  }

  /** Shows as much of a line as is decided. @param end the line break, or undefined while the line goes on */
  function takeLine(line: string, end: '\n' | '' | undefined): { shown: string; rest: string } {
    let text = line
    if (isLineStart) {
      if (end !== undefined && line.trim() === '') isBold = false
      if (end === undefined && undecidedLine.test(line)) return { shown: '', rest: line }
      const fence = /^\s*(?:`{3,}|~{3,})[^`]*$/.test(line)
      if (fence) {
        isFence = !isFence
        return { shown: '', rest: '' }
      }
      const heading = isFence ? undefined : /^\s{0,3}#{1,6}\s+/.exec(line)?.[0]
      isHeading = heading !== undefined
      text = line.slice(heading?.length ?? 0)
      isLineStart = false
    }
    const { shown, rest } = takeInline(text, end !== undefined)
    return { shown: shown + (end ?? ''), rest }
  }

  function take(isEnd: boolean): string {
    let shown = ''
    for (let at = held.indexOf('\n'); at !== -1; at = held.indexOf('\n')) {
      shown += takeLine(held.slice(0, at), '\n').shown
      held = held.slice(at + 1)
      isLineStart = true
      isHeading = false
    }
    const { shown: tail, rest } = takeLine(held, isEnd ? '' : undefined)
    held = rest
    return shown + tail
  }

  return {
    push(piece) {
      held += plain(piece)
      return take(false)
    },
    end: () => take(true),
  }
}

/** Without the characters that a terminal obeys; line breaks and tabs stay. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what must go
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}

/** Where a code span begins that does not close in the text; -1 when there is none. */
function openCode(text: string): number {
  let open = -1
  let ticks = ''
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (open === -1) [open, ticks] = [index, run]
    else if (run === ticks) open = -1
  }
  return open
}
