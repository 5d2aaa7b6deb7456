/** Draws how the relays grow with the number of streams, from the figures of one run. */
import type { Figures } from './figures.ts'

interface Panel {
  readonly title: string
  readonly of: (figures: Figures) => number
}

const panels: readonly Panel[] = [
  { title: 'CPU of a token, µs', of: ({ usPerToken }) => usPerToken },
  { title: 'first token, median, ms', of: ({ p50 }) => p50 },
  { title: 'memory above idle, MB', of: ({ peakBytes, idleBytes }) => (peakBytes - idleBytes) / 2 ** 20 },
]
const [width, height, margin] = [260, 180, 40]
const colours: Readonly<Record<string, string>> = {
  inlay: '#2563eb',
  bare: '#6b7280',
  mastra: '#d97706',
  ai: '#16a34a',
}

/** @param title says which load was measured, on which machine */
export function toCurves(all: readonly Figures[], title: string): string {
  const names = [...new Set(all.map(({ name }) => name))]
  const colourOf = (name: string): string => colours[name] ?? '#111827'
  const legend = names.map(
    (name, index) => `<text x="${margin + index * 80}" y="36" fill="${colourOf(name)}">${name}</text>`,
  )
  const drawn = panels.map((panel, index) => toPanel(panel, all, names, colourOf, index * (width + margin)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${panels.length * (width + margin) + margin} ${height + 120}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="${margin}" y="18" font-weight="bold">${title}</text>`,
    ...legend,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

/** One panel: streams and values on logarithmic axes, so that a constant is level and a proportion a diagonal. */
function toPanel(
  { title, of }: Panel,
  all: readonly Figures[],
  names: readonly string[],
  colourOf: (name: string) => string,
  left: number,
): string {
  // Memory may be lower than when idle; a logarithm needs a positive value.
  const valueOf = (figures: Figures): number => Math.max(1, of(figures))
  const counts = [...new Set(all.map(({ streams }) => streams))].toSorted((a, b) => a - b)
  const [low, high] = [Math.min(...all.map(valueOf)), Math.max(...all.map(valueOf))]
  const along = (value: number, from: number, to: number): number =>
    from === to ? 0.5 : Math.log(value / from) / Math.log(to / from)
  const x = (streams: number): number => left + margin + along(streams, counts[0]!, counts.at(-1)!) * (width - margin)
  const y = (value: number): number => 70 + (1 - along(value, low, high)) * height
  const lines = names.map((name) => {
    const points = all.filter((figures) => figures.name === name).toSorted((a, b) => a.streams - b.streams)
    const path = points.map((figures) => `${x(figures.streams).toFixed(1)},${y(valueOf(figures)).toFixed(1)}`)
    const marks = points.map((figures, index) => {
      const [cx, cy] = path[index]!.split(',')
      return `<circle cx="${cx}" cy="${cy}" r="2.5" fill="${colourOf(name)}"/><text x="${cx}" y="${Number(cy) - 6}" font-size="9" text-anchor="middle" fill="${colourOf(name)}">${valueOf(figures).toFixed(0)}</text>`
    })
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colourOf(name)}" stroke-width="1.5"/>${marks.join('')}`
  })
  const ticks = counts.map(
    (streams) => `<text x="${x(streams)}" y="${height + 90}" font-size="10" text-anchor="middle">${streams}</text>`,
  )
  return [
    `<text x="${left + margin}" y="54">${title}</text>`,
    ...ticks,
    `<text x="${left + width / 2}" y="${height + 108}" font-size="10">streams</text>`,
    ...lines,
  ].join('\n')
}
