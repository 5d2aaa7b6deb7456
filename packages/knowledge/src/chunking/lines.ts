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
}

/** Begins to read. Lines end in LF or CR LF. */
export function readLines(text: string): Lines {
  const upcoming: Line[] = []
  let position = 0
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
    skip: () => {
      if (upcoming.length > 0) upcoming.shift()
      else read()
    },
  }
}
