/** Where progress is shown; a stream of the process, or a stand-in. */
export interface Screen {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Shows how far something is: one line that is redrawn on a terminal, two plain lines elsewhere. */
export interface Progress {
  to(done: number): void
  end(sentence: string): void
}

const width = 24

/** Begins to show progress from 0 to `total`. */
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
