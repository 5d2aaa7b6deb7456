/** Draws how the relays grow with the number of streams, from the figures of one run. */
import { toPicture } from '../curves.ts'
import type { Figures } from './figures.ts'

const panels: readonly { readonly title: string; readonly of: (figures: Figures) => number }[] = [
  { title: 'CPU of a token, µs', of: ({ usPerToken }) => usPerToken },
  { title: 'first token, median, ms', of: ({ p50 }) => p50 },
  { title: 'memory above idle, MB', of: ({ peakBytes, idleBytes }) => (peakBytes - idleBytes) / 2 ** 20 },
]

/** @param title says which load was measured, on which machine */
export function toCurves(all: readonly Figures[], title: string): string {
  const names = [...new Set(all.map(({ name }) => name))].toSorted((a, b) => rank(a) - rank(b))
  const drawn = panels.map(({ title, of }) => ({
    title,
    axis: 'streams',
    series: names.map((name) => ({
      name,
      // Memory may be lower than when idle; a logarithm needs a positive value.
      points: all.filter((each) => each.name === name).map((each) => [each.streams, Math.max(1, of(each))] as const),
    })),
  }))
  return toPicture(drawn, title)
}

/** Colours follow this order. */
function rank(name: string): number {
  return ['inlay', 'bare', 'mastra', 'ai'].indexOf(name)
}
