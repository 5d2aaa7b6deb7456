import { markdownTable } from './markdown-table.ts'
import { childOf, childrenOf, elementsIn, isElement, parseXml, textOf, type Element } from './markup.ts'
import { shownNumber, styleOf, type NumberStyle } from './xlsx-numbers.ts'
import { oneLine } from '../sections.ts'

/** The data of a chart as a table, a column for each series, under the chart's title; "" for a chart without data. */
export function chartText(bytes: Uint8Array): string {
  const root = parseXml(bytes).children.find(isElement)
  const chart = root && childOf(root, 'chart')
  if (!chart) return ''
  const series = [...elementsIn(chart)].filter(({ name }) => name === 'ser').slice(0, maxSeries)
  const read = series.map((each) => ({
    name: namesOf(childOf(each, 'tx')).get(0) ?? '',
    categories: namesOf(childOf(each, 'cat') ?? childOf(each, 'xVal')),
    values: namesOf(childOf(each, 'val') ?? childOf(each, 'yVal')),
  }))
  const categories = read.reduce<Map<number, string>>(
    (all, each) => (each.categories.size > all.size ? each.categories : all),
    new Map(),
  )
  const places = [...new Set(read.flatMap(({ values }) => [...values.keys()]))].toSorted((a, b) => a - b)
  const rows = places.map((place) => [
    categories.get(place) ?? String(place + 1),
    ...read.map(({ values }) => values.get(place) ?? ''),
  ])
  if (rows.length === 0) return ''
  const title = childOf(chart, 'title')
  const lines = title ? childrenOf(title, 'tx').flatMap((tx) => [...elementsIn(tx)]) : []
  const runs = lines.filter(({ name }) => name === 't')
  const heading = oneLine(runs.map(textOf).join(''))
  const table = markdownTable([['', ...read.map(({ name }) => name)], ...rows])
  return `${heading === '' ? 'Chart' : `Chart: ${heading}`}\n\n${table}`
}

const maxSeries = 100

/** The cached points below an element, by their position, as their format shows them. */
function namesOf(element: Element | undefined): Map<number, string> {
  const points = new Map<number, string>()
  if (!element) return points
  const code = [...elementsIn(element)].find(({ name }) => name === 'formatCode')
  const style = code === undefined ? 'plain' : styleOf(textOf(code))
  for (const each of elementsIn(element)) {
    if (each.name === 'pt') {
      const value = childOf(each, 'v')
      if (value) points.set(Number(each.attributes['idx']) || 0, shown(oneLine(textOf(value)), style))
    } else if (each.name === 'v' && points.size === 0) points.set(0, oneLine(textOf(each)))
  }
  return points
}

/** Numbers without the noise of binary fractions. */
function shown(text: string, style: NumberStyle): string {
  if (style !== 'plain' && /^-?[\d.]+(?:E[-+]?\d+)?$/i.test(text)) return shownNumber(text, style, false)
  return /^-?\d+\.\d{10,}(?:E-?\d+)?$/i.test(text) ? String(Number(Number(text).toPrecision(15))) : text
}

/** Words of a diagram in the order they were typed; how they are arranged is not kept. */
export function diagramText(bytes: Uint8Array): string {
  const points = [...elementsIn(parseXml(bytes))].filter(({ name }) => name === 'pt')
  const lines = points.map((point) =>
    [...elementsIn(point)]
      // The text of a point is a `t` around those of its runs.
      .filter(({ name, children }) => name === 't' && !children.some(isElement))
      .map(textOf)
      .join(''),
  )
  return lines
    .map(oneLine)
    .filter(Boolean)
    .map((line) => `- ${line}`)
    .join('\n')
}
