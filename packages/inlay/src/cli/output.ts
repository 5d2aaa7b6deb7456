import { stripVTControlCharacters, styleText } from 'node:util'
import { wrapped } from './word-wrap.ts'

/** Output of a command: results go to standard output, progress to standard error. */
export interface Output {
  readonly isJson: boolean
  /** Whether the results are shown on a terminal. */
  readonly isTerminal: boolean
  /** Width for text, of the terminal as it is now but at most 100; 100 elsewhere. */
  readonly columns: number
  /** Writes a result unchanged. */
  write(text: string): void
  /** Writes a line of results; on a terminal it is wrapped at words. */
  line(text?: string): void
  /** Writes a result for programs, on one line. */
  json(value: unknown): void
  /** Writes a result: as JSON if that is wanted, otherwise as lines. */
  result(value: unknown, lines: string | readonly string[]): void
  /** Writes a message for the user to standard error; on a terminal it is wrapped at words. */
  note(text: string, isFault?: boolean): void
  /** Has messages written elsewhere from now on. */
  noteTo(write: (text: string, isFault: boolean) => void): void
  /** Styles a text if the terminal supports it. */
  styled(style: 'bold' | 'dim' | 'red', text: string): string
  progress(what: string, total: number): Progress
}

/** A stream for text, with the properties of a terminal if it is one. */
export interface OutputStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Progress of a task: a line that is rewritten on a terminal, otherwise occasional lines. */
export interface Progress {
  to(done: number): void
  /** Removes the line. */
  end(): void
}

/** Longer lines are hard to read, and narrower terminals too rare to be served. */
const [minColumns, maxColumns] = [20, 100]

const [minBarWidth, maxBarWidth] = [5, 28]

/** Interval of progress lines without a terminal, in milliseconds. */
const lineMs = 5000
/** Minimum time before a rate is shown, in milliseconds. */
const rateMs = 1000

/** Creates the output. @param now monotonic clock in milliseconds */
export function createOutput(options: {
  readonly isJson: boolean
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly now?: () => number
}): Output {
  const { isJson, stdout, stderr, now = () => performance.now() } = options
  // Clears a progress line on a terminal.
  const clear = stderr.isTTY === true ? '\r\x1b[K' : ''
  let elsewhere: Parameters<Output['noteTo']>[0] | undefined
  const note: Output['note'] = (text, isFault = false) => {
    if (elsewhere) return elsewhere(text, isFault)
    const shown = hasStyles(stderr) ? text : stripVTControlCharacters(text)
    stderr.write(`${clear}${fitting(stderr, shown)}\n`)
  }
  const isStyled = hasStyles(stdout)
  const line = (text = ''): void => void stdout.write(`${fitting(stdout, text)}\n`)
  const json = (value: unknown): void => void stdout.write(`${JSON.stringify(value)}\n`)
  return {
    isJson,
    isTerminal: stdout.isTTY === true,
    get columns() {
      return Math.min(maxColumns, columnsOf(stdout) ?? maxColumns)
    },
    write: (text) => void stdout.write(text),
    line,
    json,
    result: (value, lines) => (isJson ? json(value) : [lines].flat().forEach((text) => line(text))),
    note,
    noteTo: (write) => void (elsewhere = write),
    styled: (style, text) => (isStyled ? styleText(style, text, { validateStream: false }) : text),
    progress: (what, total) =>
      stderr.isTTY === true ? createBar(stderr, what, total, now) : createLines(note, what, total, now),
  }
}

/** FORCE_COLOR takes precedence over NO_COLOR, as in Node. */
function hasStyles({ isTTY }: OutputStream): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: terminal } = process.env
  if (forced !== undefined) return !['0', 'false'].includes(forced)
  return isTTY === true && !refused && terminal !== 'dumb'
}

/** Undefined if the stream is no terminal, or one that does not tell its width. */
function columnsOf(stream: OutputStream): number | undefined {
  return stream.isTTY === true && stream.columns ? Math.max(minColumns, stream.columns) : undefined
}

function fitting(stream: OutputStream, text: string): string {
  const columns = columnsOf(stream)
  return columns === undefined ? text : wrapped(text, columns)
}

function createBar(stream: OutputStream, what: string, total: number, now: () => number): Progress {
  const paceAt = createPace(total, now)
  const draw = (done: number): void => {
    const columns = Math.max(20, (stream.columns ?? 80) - 1)
    const count = `${done}/${total}`
    // The figures say more than the bar: it takes what they leave, and goes first.
    const figures = [`${count}${paceAt(done)}`, count].find((text) => what.length + text.length < columns) ?? count
    const barWidth = Math.min(maxBarWidth, columns - what.length - figures.length - 2)
    const filled = total === 0 ? barWidth : Math.round((Math.min(done, total) / total) * barWidth)
    const bar = barWidth < minBarWidth ? '' : `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} `
    stream.write(`\r\x1b[K${`${what} ${bar}${figures}`.slice(0, columns)}`)
  }
  draw(0)
  return { to: draw, end: () => void stream.write('\r\x1b[K') }
}

/** Prints a line at the start, at each tenth and every few seconds, so that a log shows progress. */
function createLines(note: (text: string) => void, what: string, total: number, now: () => number): Progress {
  const paceAt = createPace(total, now)
  let tenthsShown = 0
  let shownAt = now()
  note(`${what}: 0 of ${total}`)
  return {
    to(done) {
      const tenths = total === 0 ? 10 : Math.floor((done / total) * 10)
      if (tenths <= tenthsShown && now() - shownAt < lineMs) return
      tenthsShown = tenths
      shownAt = now()
      note(`${what}: ${done} of ${total}${paceAt(done)}`)
    },
    end: () => {},
  }
}

/** Formats the rate and the remaining time; "" while too little is known. */
function createPace(total: number, now: () => number): (done: number) => string {
  const startedAt = now()
  return (done) => {
    const elapsedMs = now() - startedAt
    if (elapsedMs < rateMs || done === 0) return ''
    const perSecond = (done / elapsedMs) * 1000
    const rate = perSecond >= 10 ? Math.round(perSecond) : Number(perSecond.toFixed(1))
    const left = done >= total ? '' : `, ${durationOf((total - done) / perSecond)} left`
    return `, ${rate}/s${left}`
  }
}

/** Formats a duration: `8 s`, `3 min`, `2 h 5 min`. */
function durationOf(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
