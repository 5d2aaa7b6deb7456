/** Draws how indexing and search grow with the chunks and with the people who search at once, from one run. */
import { toPicture, type Panel } from '../../bench/curves.ts'

/** One size of the index. */
export interface Grown {
  readonly rows: number
  /** Chunks indexed a second, upkeep included. */
  readonly rate: number
  /** Medians in milliseconds by kind of search. */
  readonly medians: ReadonlyMap<string, number>
  /** Searches a second by number of searchers. */
  readonly searchers: ReadonlyMap<number, number>
}

/** Kinds of searches that are drawn. */
const kinds = ['text, no filter', 'text, pairs, 2/3', 'hybrid, no filter'] as const

/** @param title says on which machine it was measured */
export function toCurves(grown: readonly Grown[], title: string): string {
  const panels: readonly Panel[] = [
    {
      title: 'chunks indexed a second',
      axis: 'chunks',
      series: [{ name: 'indexing', points: grown.map(({ rows, rate }) => [rows, rate] as const) }],
    },
    {
      title: 'one search at a time, median, ms',
      axis: 'chunks',
      series: kinds.map((kind) => ({
        name: kind,
        points: grown.map(({ rows, medians }) => [rows, medians.get(kind) ?? Number.NaN] as const),
      })),
    },
    {
      title: 'text searches a second',
      axis: 'people who search at once',
      series: grown.map(({ rows, searchers }) => ({
        name: `${rows.toLocaleString('en')} chunks`,
        points: [...searchers],
      })),
    },
  ]
  return toPicture(panels, title)
}
