import { styleText } from 'node:util'

/** Output of a command: results go to standard output, progress to standard error. */
export interface Output {
  readonly isJson: boolean
  /** Whether a person watches the results come. */
  readonly isTerminal: boolean
  /** Writes a result as it is. */
  write(text: string): void
  /** Writes a line of results. */
  line(text?: string): void
  /** Writes a result for programs, on one line. */
  json(value: unknown): void
  /** Tells a person something beside the results. */
  note(text: string): void
  /** Text in a style, where the terminal shows styles. */
  styled(style: 'bold' | 'dim' | 'red', text: string): string
  /** Shows how far a long task is; see {@link Progress}. */
  progress(what: string, total: number): Progress
}

/** A stream that text is written to; a terminal knows that it is one. */
export interface OutputStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** How far a task is: one line that is rewritten on a terminal, else a line now and then. */
export interface Progress {
  to(done: number): void
  /** Takes the line away. */
  end(): void
}

const barWidth = 28

/** How often a task says how far it is where no terminal shows it; milliseconds. */
const lineMs = 5000
/** From this time on a rate means something; milliseconds. */
const rateMs = 1000

/** Output to the two standard streams. @param now milliseconds; default: the clock that never goes back */
export function createOutput(options: {
  readonly isJson: boolean
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly now?: () => number
}): Output {
  const { isJson, stdout, stderr, now = () => performance.now() } = options
  // On a terminal a line of progress may stand there.
  const clear = stderr.isTTY === true ? '\r\x1b[K' : ''
  const note = (text: string): void => void stderr.write(`${clear}${text}\n`)
  const hasStyles = stdout.isTTY === true && !process.env['NO_COLOR']
  return {
    isJson,
    isTerminal: stdout.isTTY === true,
    write: (text) => void stdout.write(text),
    line: (text = '') => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note,
    styled: (style, text) => (hasStyles ? styleText(style, text, { validateStream: false }) : text),
    progress: (what, total) =>
      stderr.isTTY === true ? createBar(stderr, what, total, now) : createLines(note, what, total, now),
  }
}

function createBar(stream: OutputStream, what: string, total: number, now: () => number): Progress {
  const paceAt = createPace(total, now)
  const draw = (done: number): void => {
    const filled = total === 0 ? barWidth : Math.round((Math.min(done, total) / total) * barWidth)
    const drawn = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
    const line = `${what} ${drawn} ${done}/${total}${paceAt(done)}`
    stream.write(`\r\x1b[K${line.slice(0, Math.max(20, (stream.columns ?? 80) - 1))}`)
  }
  draw(0)
  return { to: draw, end: () => void stream.write('\r\x1b[K') }
}

/** A line at the start, at each tenth and after each few seconds: a log shows that the task moves. */
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

/** Words for the rate so far and the time that is left; none while too little is known. */
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

/** A time in words: `8 s`, `3 min`, `2 h 5 min`. */
function durationOf(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
