import { formatNumber } from '../texts/locale.ts'
import { healthTexts } from '../texts/view-texts.ts'

interface PlotProps {
  readonly label: string
  readonly points: readonly { readonly at: number; readonly value: number }[]
}

const width = 240
const height = 44

export function Plot({ label, points }: PlotProps) {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || first === last) return null
  const values = points.map(({ value }) => value)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const seconds = (last.at - first.at) / 1000
  const words = healthTexts.plot(label, seconds, formatNumber(least), formatNumber(most), formatNumber(last.value))
  return (
    <figure class="plot u-grid u-gap-2">
      <svg
        class="u-full u-line-below"
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        <polyline points={lineOf(points, { least, most })} />
      </svg>
      <figcaption class="u-flex u-muted u-tiny u-between" aria-hidden="true">
        <span>{healthTexts.over(seconds)}</span>
        <span>{least === most ? formatNumber(least) : `${formatNumber(least)} – ${formatNumber(most)}`}</span>
      </figcaption>
    </figure>
  )
}

/** Points of a line that fills the plot; a constant line is at the bottom. */
export function lineOf(points: PlotProps['points'], { least, most }: { least: number; most: number }): string {
  const [begin, end] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0]
  return points
    .map(({ at, value }) => {
      const x = end === begin ? 0 : ((at - begin) / (end - begin)) * width
      const y = most === least ? height - 2 : height - 2 - ((value - least) / (most - least)) * (height - 4)
      return `${round(x)},${round(y)}`
    })
    .join(' ')
}

const round = (value: number): number => Math.round(value * 10) / 10
