/** Output for progress: a stream of the process, or a test double. */
export interface Screen {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Shows progress: one line that is redrawn on a terminal, otherwise two plain lines. */
export interface Progress {
  to(done: number): void
  end(sentence: string): void
}

const width = 24

/** Starts showing progress from 0 to `total`. */
export function showProgress(screen: Screen, label: string, total: number): Progress {
  if (screen.isTTY !== true) {
    screen.write(`${label} (${total}) …\n`)
    return { to: () => {}, end: (sentence) => screen.write(`${sentence}\n`) }
  }
  const draw = (done: number): void => {
    const filled = Math.round((done / total) * width)
    screen.write(`\r\u{1b}[2K  ${label}  ${'█'.repeat(filled)}${'░'.repeat(width - filled)}  ${done}/${total}`)
  }
  draw(0)
  return { to: draw, end: (sentence) => screen.write(`\r\u{1b}[2K  ${sentence}\n`) }
}
