import { keysOf } from '@inlay/text'
import type { Evidence, ReadPassage, ReadUnit } from './evidence.ts'
import type { Question } from './question.ts'

/** Rows with the same header. */
interface Table {
  readonly header: readonly string[]
  readonly rows: readonly ReadUnit[]
}

/** Words for a maximum or minimum, and the columns they refer to if the question does not contain a column. */
const extremes: readonly (readonly [RegExp, 'most' | 'least', RegExp])[] = [
  [/cheapest|least expensive|günstigste|billigste/, 'least', /pric|cost|fee|rate|preis|kosten|[€$£]|eur|usd/i],
  [/most expensive|dearest|costliest|priciest|teuerste/, 'most', /pric|cost|fee|rate|preis|kosten|[€$£]|eur|usd/i],
  [/lightest|leichteste/, 'least', /weigh|mass|gewicht|\bk?g\b/i],
  [/heaviest|schwerste/, 'most', /weigh|mass|gewicht|\bk?g\b/i],
  [/shortest|kürzeste/, 'least', /length|duration|time|days|weeks|hours|minutes|distance|länge|dauer/i],
  [/longest|längste/, 'most', /length|duration|time|days|weeks|hours|minutes|distance|länge|dauer/i],
  [/slowest|langsamste/, 'least', /speed|rate|tempo|geschwindigkeit/i],
  [/fastest|quickest|schnellste/, 'most', /speed|rate|tempo|geschwindigkeit/i],
  [/oldest|earliest|älteste/, 'least', /year|date|since|built|founded|jahr|datum/i],
  [/newest|youngest|latest|neueste|jüngste/, 'most', /year|date|since|built|founded|jahr|datum/i],
  [/smallest|tiniest|kleinste/, 'least', /size|area|capacity|height|größe|fläche/i],
  [/largest|biggest|größte/, 'most', /size|area|capacity|height|größe|fläche/i],
  [/tallest|highest|maximum|höchste|greatest|\bmost\b|meisten/, 'most', /height|höhe/i],
  [/lowest|minimum|fewest|niedrigste|\bleast\b|wenigsten/, 'least', /height|höhe/i],
]

/** Units of time in hours, so that weeks and months can be compared. */
const durations: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|sec|seconds?|sekunden?)$/, 1 / 3600],
  [/^(?:min|minutes?|minuten?)$/, 1 / 60],
  [/^(?:h|hrs?|hours?|std|stunden?)$/, 1],
  [/^(?:d|days?|tage?)$/, 24],
  [/^(?:weeks?|wochen?)$/, 24 * 7],
  [/^(?:months?|monate?)$/, 24 * 30.4],
  [/^(?:years?|jahre?)$/, 24 * 365],
]

const numberIn = /[-−]?\d[\d.,’' ]*/

/** Parses a number in English or continental notation, with the text around it. */
function readNumber(cell: string): { value: number; unit: string } | undefined {
  const digits = numberIn.exec(cell)?.[0].trim()
  if (digits === undefined) return undefined
  const plain = digits
    .replace(/[’' ]/g, '')
    .replace('−', '-')
    .replace(/[.,]+$/, '')
  // If both marks occur, the last one is the decimal mark; a single mark before three digits groups thousands.
  const isDecimalComma = plain.lastIndexOf(',') > plain.lastIndexOf('.') && !/^-?\d{1,3}(?:,\d{3})+$/.test(plain)
  const isGroupedByDots = /^-?\d{1,3}(?:\.\d{3})+$/.test(plain) && /[€]|EUR/.test(cell)
  const value = Number(
    isDecimalComma || isGroupedByDots ? plain.replaceAll('.', '').replace(',', '.') : plain.replaceAll(',', ''),
  )
  const unit = cell
    .replace(digits, '')
    .toLowerCase()
    .replace(/[\s.()~]|approx|about|ca/g, '')
  if (Number.isNaN(value)) return undefined
  const time = durations.find(([pattern]) => pattern.test(unit))
  return time ? { value: value * time[1], unit: 'hours' } : { value, unit }
}

/** Tables of one page with the same header count as one, since a search may have split it. */
function tablesOf(passages: readonly ReadPassage[]): Table[] {
  const tables = new Map<string, { header: readonly string[]; rows: ReadUnit[] }>()
  for (const { units, source } of passages)
    for (const read of units) {
      const table = read.unit.table
      if (!table) continue
      const key = [source.number ?? source.title, ...table.header].join('\n')
      const known = tables.get(key)
      if (known) known.rows.push(read)
      else tables.set(key, { header: table.header, rows: [read] })
    }
  return [...tables.values()]
}

const cell = (row: ReadUnit, column: number): string => row.unit.table?.cells[column] ?? ''

/** The first cell and another cell of a row, as a line. */
const lineOf = (row: ReadUnit, header: readonly string[], column: number): string =>
  column === 0 ? row.unit.text : `${cell(row, 0)}: ${header[column] ? `${header[column]} ` : ''}${cell(row, column)}`

/** Rows with the text to quote of each. */
export type Rows = readonly { readonly read: ReadUnit; readonly text: string }[]

/** Minimum share of the topic in a table. */
const minTableShare = 0.5
const maxTied = 3

/** The rows with the maximum or minimum that a question asks for; undefined if no table contains it. */
export function extremeRows(question: Question, passages: readonly ReadPassage[], { has }: Evidence): Rows | undefined {
  const extremeWord = extremes.find(([pattern]) => pattern.test(question.text.toLowerCase()))
  if (!extremeWord) return undefined
  const [pattern, direction, usualColumn] = extremeWord
  const extremeKeys = new Set(keysOf(pattern.exec(question.text.toLowerCase())?.[0] ?? ''))
  const namesColumn = (header: readonly string[]): boolean =>
    keysOf(header.join(' ')).some((key) => extremeKeys.has(key))
  const topic = question.topic.filter((key) => !extremeKeys.has(key))
  let best: { rows: Rows; share: number } | undefined
  for (const { header, rows } of tablesOf(passages)) {
    const [first] = rows
    // A column such as `Maximum salary` is a name, not a comparison.
    if (!first || rows.length < 2 || namesColumn(header)) continue
    const context = new Set([...first.above, ...first.passage.head, ...keysOf(header.join(' '))])
    const share =
      topic.filter((key) => has(context, key) || rows.some(({ keys }) => has(keys, key))).length / topic.length
    if (topic.length > 0 && share < minTableShare) continue
    const columns = header.map((_, at) => at).filter((at) => at > 0 && rows.some((row) => readNumber(cell(row, at))))
    const named = columns.find((at) => topic.some((key) => has(new Set(keysOf(header[at] ?? '')), key)))
    const usual = columns.find(
      (at) => usualColumn.test(header[at] ?? '') || rows.every((row) => usualColumn.test(cell(row, at))),
    )
    const isAbout = topic.every((key) => has(context, key))
    const column = named ?? usual ?? (columns.length === 1 && isAbout ? columns[0] : undefined)
    if (column === undefined) continue
    const read = rows.flatMap((row) => {
      const number = readNumber(cell(row, column))
      return number ? [{ row, ...number }] : []
    })
    // Different units, such as hours and minutes, cannot be compared.
    if (read.length < 2 || new Set(read.map(({ unit }) => unit)).size > 1) continue
    const values = read.map(({ value }) => value)
    const extreme = direction === 'most' ? Math.max(...values) : Math.min(...values)
    const tied = read.filter(({ value }) => value === extreme)
    if (tied.length > maxTied || (best && best.share >= (share || 0))) continue
    best = { rows: tied.map(({ row }) => ({ read: row, text: lineOf(row, header, column) })), share: share || 0 }
  }
  return best?.rows
}

/** Keys of words for any value: `the phone number of …`. */
export const valueWord: RegExp = /^(?:numb|nummer|addres|adress|amount|value|wert|name|date|datum)/

/** The row that a question refers to, and the column if it contains one; undefined if there are several candidates. */
export function namedRow(
  question: Question,
  passages: readonly ReadPassage[],
  { has, shareOf }: Evidence,
): Rows | undefined {
  let best: { rows: Rows; share: number } | undefined
  for (const { header, rows } of tablesOf(passages)) {
    // `Who is the head of IT?`: a cell says all that the question does, so its row tells who.
    const said = rows.flatMap((row) => {
      const at = /^(?:who|whom|wer|wen|quién|qui|chi)(?!\p{L})/iu.test(question.text)
        ? header.findIndex((_, column) => {
            const own = new Set(keysOf(cell(row, column)))
            return column > 0 && question.topic.length > 1 && question.topic.every((key) => has(own, key))
          })
        : -1
      return at > 0 ? [{ row, at }] : []
    })
    if (said.length === 1) return said.map(({ row, at }) => ({ read: row, text: lineOf(row, header, at) }))
    const counted = rows.map((row) => {
      const own = new Set(keysOf(cell(row, 0)))
      return { row, matched: question.topic.filter((key) => has(own, key)).length, extra: own.size }
    })
    const most = Math.max(...counted.map(({ matched }) => matched))
    const matching = counted
      .filter(({ matched }) => matched === most)
      .toSorted((left, right) => left.extra - right.extra)
    const [top, next] = matching
    if (!top || most === 0 || (next && next.extra === top.extra)) continue
    const { row } = top
    const own = new Set(keysOf(cell(row, 0)))
    if (most < own.size / 2) continue
    const left = question.topic.filter((key) => !has(own, key))
    const headers = header.map((name) => new Set(keysOf(name)))
    const hint = /\bcosts?\b|\bhow much\b|\bprice|kostet|cuesta|coûte/i.test(question.text)
      ? /pric|cost|fee|preis|kosten|[€$£]/i
      : undefined
    const isNamed = (at: number): boolean =>
      left.some((key) => has(headers[at]!, key)) || (hint?.test(`${header[at]} ${cell(row, at)}`) ?? false)
    /** Prefers the column whose name shares most words with the question. */
    const named = header.map((_, at) =>
      at > 0 && isNamed(at) ? left.filter((key) => has(headers[at]!, key)).length + 1 : 0,
    )
    const column = named.indexOf(Math.max(...named, 1))
    // Of `Salary from` and `Salary to`, the question may ask for either.
    const tied = named.flatMap((share, other) => (share === named[column] && other !== column ? [other] : []))
    const others = left.filter((key) => column <= 0 || !((hint && /^(?:cost|pric)/.test(key)) || valueWord.test(key)))
    const share = others.length === 0 ? 1 : shareOf(row.keys, row.above, row.passage.head)
    const covered = others.every((key) => has(row.keys, key) || has(row.above, key) || has(row.passage.head, key))
    if (!covered || (column === -1 && header.length !== 2)) continue
    const at = column === -1 ? 1 : column
    if (cell(row, at) !== '' && (!best || share > best.share))
      best = {
        rows: [
          {
            read: row,
            text: [lineOf(row, header, at), ...tied.map((other) => `${header[other]} ${cell(row, other)}`)].join('; '),
          },
        ],
        share,
      }
  }
  return best?.rows
}
