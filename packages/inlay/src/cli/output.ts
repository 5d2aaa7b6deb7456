import { styleText } from 'node:util'

/** Where a command writes: results to standard output, everything about its progress to standard error. */
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
  to(done: number, beside?: string): void
  /** Takes the line away. */
  end(): void
}

const barWidth = 28

/** Output to the two standard streams. */
export function createOutput(options: {
  readonly isJson: boolean
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}): Output {
  const { isJson, stdout, stderr } = options
  const note = (text: string): void => void stderr.write(`${text}\n`)
  return {
    isJson,
    isTerminal: stdout.isTTY === true,
    write: (text) => void stdout.write(text),
    line: (text = '') => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note,
    styled: (style, text) => (stdout.isTTY === true ? styleText(style, text) : text),
    progress: (what, total) => (stderr.isTTY === true ? bar(stderr, what, total) : linesOf(note, what, total)),
  }
}

function bar(stream: OutputStream, what: string, total: number): Progress {
  return {
    to(done, beside = '') {
      const filled = total === 0 ? barWidth : Math.round((Math.min(done, total) / total) * barWidth)
      const drawn = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
      const line = `${what} ${drawn} ${done}/${total} ${beside}`
      stream.write(`\r\x1b[K${line.slice(0, Math.max(20, (stream.columns ?? 80) - 1))}`)
    },
    end: () => void stream.write('\r\x1b[K'),
  }
}

/** Ten lines for a whole task: enough for a log to show that it moves. */
function linesOf(note: (text: string) => void, what: string, total: number): Progress {
  let told = 0
  return {
    to(done, beside = '') {
      const tenths = total === 0 ? 10 : Math.floor((done / total) * 10)
      if (tenths <= told) return
      told = tenths
      note(`${what}: ${done} of ${total}${beside === '' ? '' : `, ${beside}`}`)
    },
    end: () => {},
  }
}
