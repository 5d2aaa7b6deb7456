/**
 * Records commands over the guide of this repository and draws what a terminal would show, as animated pictures for the
 * docs: `npm run docs:recordings`. Nothing is sent anywhere; the built-in model answers.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import terminals from '@xterm/headless'
import { drawRecording, type Screen, type Span } from './recording-picture.ts'

const columns = 92
const rows = 28
const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const asTerminal = new URL('as-terminal.mjs', import.meta.url).href
/** Pauses of somebody who types, in milliseconds. */
const [keyMs, readMs] = [45, 1500]
/** Rate of the pictures: a terminal draws faster than anybody reads. */
const frameMs = 100

interface Recorded {
  readonly name: string
  readonly words: readonly string[]
  /** Lines that are typed once the prompt is back. */
  readonly typed?: readonly string[]
}

const recordings: readonly Recorded[] = [
  { name: 'ingest', words: ['ingest', 'docs'] },
  { name: 'chat', words: ['chat'], typed: ['How do I back up the data folder?', '/sources', '/quit'] },
  { name: 'doctor', words: ['doctor'] },
]

const folder = mkdtempSync(join(tmpdir(), 'inlay-recordings-'))
try {
  for (const recorded of recordings) {
    const screens = await record(recorded)
    const file = `docs/1.guide/recording-${recorded.name}.svg`
    writeFileSync(file, drawRecording(screens, { columns, title: `inlay ${recorded.words.join(' ')}` }))
    process.stdout.write(`${file}: ${screens.length} screens\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs a command and returns its screens, each with the time since the first. */
async function record({ name, words, typed = [] }: Recorded): Promise<readonly Screen[]> {
  const terminal = new terminals.Terminal({ cols: columns, rows, convertEol: true, allowProposedApi: true })
  const screens: Screen[] = []
  const startedAt = performance.now()
  const capture = (): void => {
    const lines = readScreen(terminal)
    const last = screens.at(-1)
    if (last && JSON.stringify(last.lines) === JSON.stringify(lines)) return
    screens.push({ atMs: performance.now() - startedAt, lines })
  }
  const show = (text: string | Uint8Array): Promise<void> => new Promise((done) => terminal.write(text, done))

  let shown = Promise.resolve()
  for (const key of `$ npx inlay ${words.join(' ')}`) {
    await show(key)
    capture()
    await delay(keyMs)
  }
  await show('\n')
  const env = { PATH: process.env['PATH'], HOME: folder, COLUMNS: String(columns), INLAY_DATA: join(folder, '.inlay') }
  const child = spawn(
    process.execPath,
    ['--conditions=@inlay/source', '--no-warnings', `--import=${asTerminal}`, cli, ...words],
    { env },
  )
  let prompts = 0
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      if (bytes.includes('› ')) prompts++
      shown = shown.then(() => show(bytes))
    })
  const over = new Promise<number | null>((done) => child.once('close', done))
  const timer = setInterval(capture, frameMs)
  let isOver = false
  void over.then(() => (isOver = true))
  for (const [index, line] of typed.entries()) {
    while (prompts <= index && !isOver) await delay(frameMs)
    await delay(index === 0 ? frameMs : readMs)
    for (const key of line) {
      child.stdin.write(key)
      await delay(keyMs)
    }
    // Each key draws the prompt again.
    prompts = index + 1
    child.stdin.write('\r')
  }
  const code = await over
  clearInterval(timer)
  await shown
  capture()
  if (code !== 0) throw new Error(`inlay ${name} ended with ${code}:\n${textOf(screens.at(-1))}`)
  return screens
}

const textOf = (screen: Screen | undefined): string =>
  screen?.lines.map((line) => line.map(({ text }) => text).join('')).join('\n') ?? ''

function readScreen(terminal: terminals.Terminal): readonly (readonly Span[])[] {
  const { active } = terminal.buffer
  return Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.viewportY + row)
    const spans: Span[] = []
    for (let column = 0; column < columns; column++) {
      const cell = line?.getCell(column)
      if (!cell || cell.getWidth() === 0) continue
      const style = cell.isBold()
        ? 'bold'
        : cell.isDim()
          ? 'dim'
          : cell.isFgPalette() && cell.getFgColor() === 1
            ? 'red'
            : ''
      const text = cell.getChars() || ' '
      const last = spans.at(-1)
      if (last?.style === style) spans[spans.length - 1] = { style, text: last.text + text }
      else spans.push({ style, text })
    }
    return trimmed(spans)
  })
}

function trimmed(spans: readonly Span[]): readonly Span[] {
  const last = spans.at(-1)
  if (last === undefined) return spans
  const text = last.text.trimEnd()
  return text === '' ? trimmed(spans.slice(0, -1)) : [...spans.slice(0, -1), { ...last, text }]
}
