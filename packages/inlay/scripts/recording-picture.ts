/** A piece of a line in one style. */
export interface Span {
  readonly style: '' | 'bold' | 'dim' | 'red'
  readonly text: string
}

/** A terminal's screen, and when it was first seen. */
export interface Screen {
  readonly atMs: number
  readonly lines: readonly (readonly Span[])[]
}

/** A line that stays the same on the screen from one time to another. */
interface StandingLine {
  readonly row: number
  readonly spans: readonly Span[]
  readonly fromMs: number
  readonly toMs: number
}

const [charWidth, lineHeight, padding] = [7.8, 18, 14]
/** How long the last screen stands before the recording begins again. */
const restMs = 6000
const style = [
  'text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6e6e6;white-space:pre;visibility:hidden}',
  '.bold{font-weight:700}.dim{fill:#9aa4b2}.red{fill:#ff8a80}',
].join('')

/** Draws screens as an SVG that plays them again and again. A line that does not change is written once. */
export function drawRecording(
  screens: readonly Screen[],
  { columns, title }: { readonly columns: number; readonly title: string },
): string {
  const endMs = (screens.at(-1)?.atMs ?? 0) + restMs
  const lines = standingLines(screens, endMs)
  const rows = Math.max(...lines.map(({ row }) => row)) + 1
  const [width, height] = [columns * charWidth + 2 * padding, rows * lineHeight + 2 * padding]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" role="img"><title>${escaped(title)}</title>`,
    `<style>${style}</style><rect width="100%" height="100%" rx="8" fill="#15171a">`,
    // Plays for as long as the recording lasts, and again: all lines count from its beginning.
    `<animate id="r" attributeName="rx" values="8;8" begin="0s;r.end" dur="${seconds(endMs)}"/></rect>`,
    ...lines.map((line) => drawLine(line, endMs)),
    '</svg>\n',
  ].join('\n')
}

function standingLines(screens: readonly Screen[], endMs: number): readonly StandingLine[] {
  const lines: StandingLine[] = []
  const open = new Map<number, { readonly key: string; readonly spans: readonly Span[]; readonly fromMs: number }>()
  const close = (row: number, toMs: number): void => {
    const line = open.get(row)
    if (line && line.spans.length > 0) lines.push({ row, spans: line.spans, fromMs: line.fromMs, toMs })
  }
  for (const { atMs, lines: shown } of screens)
    for (const [row, spans] of shown.entries()) {
      const key = JSON.stringify(spans)
      if (open.get(row)?.key === key) continue
      close(row, atMs)
      open.set(row, { key, spans, fromMs: atMs })
    }
  for (const row of open.keys()) close(row, endMs)
  return lines
}

function drawLine({ row, spans, fromMs, toMs }: StandingLine, endMs: number): string {
  const pieces = spans.map(({ style: name, text }) =>
    name === '' ? escaped(text) : `<tspan class="${name}">${escaped(text)}</tspan>`,
  )
  const end = toMs === endMs ? 'r.end' : `r.begin+${seconds(toMs)}`
  return `<text x="${padding}" y="${padding + (row + 0.75) * lineHeight}">${pieces.join('')}<set attributeName="visibility" to="visible" begin="r.begin+${seconds(fromMs)}" end="${end}"/></text>`
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)}s`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
