/** Draws figures that grow as a picture (SVG): panels side by side, each with a line for each series. */

export interface Panel {
  readonly title: string
  /** Names what the values belong to, such as `streams`. */
  readonly axis: string
  readonly series: readonly Series[]
}

export interface Series {
  readonly name: string
  /** Numbers above 0: how many, and the value measured there. */
  readonly points: readonly (readonly [number, number])[]
}

const [width, height, margin] = [260, 180, 40]
const palette = ['#2563eb', '#6b7280', '#d97706', '#16a34a', '#9333ea', '#dc2626', '#0891b2', '#111827']

/** @param title says what was measured, on which machine */
export function toPicture(panels: readonly Panel[], title: string): string {
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))]
  const colourOf = (name: string): string => palette[names.indexOf(name) % palette.length]!
  let left = margin
  const legend = names.map((name) => {
    const line = `<text x="${left}" y="36" fill="${colourOf(name)}">${name}</text>`
    left += 24 + 7 * name.length
    return line
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${panels.length * (width + margin) + margin} ${height + 120}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="${margin}" y="18" font-weight="bold">${title}</text>`,
    ...legend,
    ...panels.map((panel, index) => drawn(panel, colourOf, index * (width + margin))),
    '</svg>\n',
  ].join('\n')
}

/** Logarithmic axes, so that a constant is level and a proportion a diagonal. */
function drawn({ title, axis, series }: Panel, colourOf: (name: string) => string, left: number): string {
  const all = series.flatMap(({ points }) => points)
  const counts = [...new Set(all.map(([count]) => count))].toSorted((a, b) => a - b)
  const values = all.map(([, value]) => value)
  const along = (value: number, from: number, to: number): number =>
    from === to ? 0.5 : Math.log(value / from) / Math.log(to / from)
  const x = (count: number): string =>
    (left + margin + along(count, counts[0]!, counts.at(-1)!) * (width - margin)).toFixed(1)
  const y = (value: number): number => 70 + (1 - along(value, Math.min(...values), Math.max(...values))) * height
  const lines = series.map(({ name, points }) => {
    const sorted = points.toSorted(([a], [b]) => a - b)
    const path = sorted.map(([count, value]) => `${x(count)},${y(value).toFixed(1)}`)
    const marks = sorted.map(
      ([count, value]) =>
        `<circle cx="${x(count)}" cy="${y(value).toFixed(1)}" r="2.5" fill="${colourOf(name)}"/><text x="${x(count)}" y="${(y(value) - 6).toFixed(1)}" font-size="9" text-anchor="middle" fill="${colourOf(name)}">${shown(value)}</text>`,
    )
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colourOf(name)}" stroke-width="1.5"/>${marks.join('')}`
  })
  const ticks = counts.map(
    (count) =>
      `<text x="${x(count)}" y="${height + 90}" font-size="10" text-anchor="middle">${count.toLocaleString('en')}</text>`,
  )
  return [
    `<text x="${left + margin}" y="54">${title}</text>`,
    ...ticks,
    `<text x="${left + width / 2}" y="${height + 108}" font-size="10">${axis}</text>`,
    ...lines,
  ].join('\n')
}

function shown(value: number): string {
  return value < 10 ? String(Number(value.toPrecision(2))) : value.toFixed(0)
}
