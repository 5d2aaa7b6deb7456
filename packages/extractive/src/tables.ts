import { isLike, keysOf } from '@inlay/text'
import type { Evidence } from './evidence.ts'
import type { ReadPassage, ReadUnit } from './page.ts'
import type { Question } from './question.ts'

/** Rows with the same header. */
interface Table {
  readonly header: readonly string[]
  readonly rows: readonly ReadUnit[]
}

/** A row with the cells to quote. */
interface Row {
  readonly read: ReadUnit
  readonly text: string
}

const least =
  /least|minimum|fewest|\b(?:cheap|light|short|slow|old|earli|small|tini|low)est\b|(?:günstig|billig|leichte|kürze|langsam|älte|klein|niedrig)ste|wenigsten/i
const most =
  /\bmost\b|maximum|\b(?:dear|costli|prici|heavi|long|fast|quick|new|young|lat|larg|bigg|tall|high|great)est\b|(?:teuer|schwer|läng|schnell|neue|jüng|größ|höch)ste|meisten/i

/** Limits, exclusions and ranks: the extreme of all rows is no answer to them. */
const restricted =
  /\b(?:at least|at most|not|no|without|except|other than|but|second|third|fourth|fifth|next|[2-9](?:nd|rd|th)|mindestens|höchstens|nicht|kein\p{L}*|ohne|außer)(?!\p{L})|n['’]t\b|(?<!\p{L})(?:zweit|dritt|viert|nächst)/iu

/** With an age in a column, the youngest have the least. */
const [ofAge, ageColumn] = [/\b(?:old|young)est\b|älteste|jüngste/i, /\b(?:age|alter)\b/i]

/** How questions refer to a measure, and how columns with it are called, or the unit in their cells. */
const measures: readonly (readonly [RegExp, RegExp])[] = [
  [/cheap|expensive|dear|cost|pric|how much|kostet|günstig|billig|teuer/i, /pric|cost|fee|rate|preis|kosten|[€$£]/i],
  [/light|heav|weigh|leicht|schwer|wieg/i, /weigh|mass|gewicht|\bk?g\b/i],
  [/short|long|kürz|läng|lang/i, /length|duration|time|days|weeks|hours|minutes|distance|länge|dauer/i],
  [/slow|fast|quick|schnell|langsam/i, /speed|rate|tempo|geschwindigkeit/i],
  [/old|earl|new|young|lat|alt|ält|neu|jüng/i, /year|date|since|built|founded|jahr|datum|\b(?:age|alter)\b/i],
  [
    /small|tin|larg|big|tall|high|low|klein|groß|größ|hoch|höch|niedrig/i,
    /size|area|capacity|height|größe|fläche|höhe/i,
  ],
]

/** Words that ask for a measure without most or least. */
const asksMeasure = /\b(?:how|wie) \p{L}+|\bcosts?\b|\bpric\p{L}*|\bweighs?\b|kostet|wiegt/giu

/** Keys of words for any value: `the phone number of …`. */
const valueWord = /^(?:numb|nummer|addres|adress|amount|value|wert|name|date|datum)/

const asksWho = /^(?:who|whom|wer|wen)(?!\p{L})/iu

/** The cells of a row; a label and its value, as in `Phone: 555 200.`, are a row of a table without a header. */
const cellsOf = ({ unit: { table, text } }: ReadUnit): readonly string[] =>
  table?.cells ?? /^([^:.]{2,30}): (\S.*)/.exec(text)?.slice(1) ?? []

const cell = (row: ReadUnit, column: number): string => cellsOf(row)[column] ?? ''

/** Tables of one page with the same header count as one, since a search may have split it. */
function tablesOf(passages: readonly ReadPassage[]): Table[] {
  const rows = passages.flatMap(({ units }) => units.filter((read) => cellsOf(read).length > 1))
  const tables = Map.groupBy(rows, ({ unit, passage: { source } }) =>
    [source.number ?? source.title, ...(unit.table?.header ?? [])].join('\n'),
  )
  return [...tables.values()].map((list) => ({ header: list[0]!.unit.table?.header ?? ['', ''], rows: list }))
}

/** The first cell and some others of a row, as a line. */
function toRow(read: ReadUnit, header: readonly string[], columns: readonly number[]): Row {
  if (columns.length === 0 || columns.includes(0)) return { read, text: read.unit.text }
  const named = columns.map((at) => `${header[at] ? `${header[at]} ` : ''}${cell(read, at)}`)
  return { read, text: `${cell(read, 0)}: ${named.join('; ')}` }
}

/** The row that a question names, with the column that it names, or the rows with the most or least of a column. */
export function lookUp(
  question: Question,
  passages: readonly ReadPassage[],
  evidence: Evidence,
  isKnown: boolean,
): readonly Row[] | undefined {
  const extreme = (least.exec(question.text) ?? most.exec(question.text))?.[0]
  const tables = tablesOf(passages).toSorted((left, right) => coverage(right) - coverage(left))
  function coverage({ rows }: Table): number {
    return Math.max(...rows.map(({ keys, above, passage: { head } }) => evidence.shareOf(keys, above, head)))
  }
  const first = (find: (table: Table) => readonly Row[]): readonly Row[] | undefined =>
    tables.map(find).find(({ length }) => length > 0)
  return (
    (isKnown ? first((table) => namedRow(question, table, evidence, extreme)) : undefined) ??
    (extreme === undefined ? undefined : first((table) => extremeRows(question, table, evidence, extreme)))
  )
}

/** Whether a word for most or least is only a name, as in the column `Maximum salary`. */
const isName = (extreme: string, header: readonly string[]): boolean => {
  const keys = keysOf(header.join(' '))
  return keysOf(extreme).every((key) => keys.includes(key))
}

/** Whether a column is called by a word, also in another form: `Shrinkage` by `shrinks`. */
const isCalled = (name: string, key: string): boolean =>
  keysOf(name).some((other) => other === key || isLike(key, other))

function namedRow(question: Question, { header, rows }: Table, { has }: Evidence, extreme = ''): readonly Row[] {
  if (extreme !== '' && !isName(extreme, header)) return []
  const { topic, text } = question
  /** The cells with most words of the question and fewest others. */
  const matches = rows.flatMap((row) =>
    header.map((_, at) => {
      const keys = new Set(keysOf(cell(row, at)))
      return { row, at, keys, matched: topic.filter((key) => has(key, keys)).length }
    }),
  )
  const [top, next] = matches.toSorted(
    (left, right) => right.matched - left.matched || left.keys.size - right.keys.size || left.at - right.at,
  )
  if (!top || top.matched < Math.max(1, top.keys.size / 2)) return []
  if (next && next.row !== top.row && next.matched === top.matched && next.keys.size === top.keys.size) return []
  const { row, at, keys } = top
  const left = topic.filter((key) => !has(key, keys))
  const measured = text.match(asksMeasure)?.join(' ') ?? ''
  const measure = measures.find(([pattern]) => pattern.test(measured))
  const scores = header.map((name, column) => {
    if (column === at || column === 0 || cell(row, column) === '') return 0
    const isMeasured = measure?.[1].test(`${name} ${cell(row, column)}`) ?? false
    return left.filter((key) => isCalled(name, key)).length + (isMeasured ? 0.5 : 0)
  })
  const score = Math.max(...scores)
  // Of `Salary from` and `Salary to`, the question may ask for either.
  const columns = score > 0 ? [...scores.keys()].filter((column) => scores[column] === score) : []
  const isCovered = left.every(
    (key) =>
      has(key, row.keys, row.above, row.passage.head) ||
      (columns.length > 0 && (valueWord.test(key) || measure?.[0].test(key))),
  )
  if (!isCovered) return []
  if (columns.length > 0) return [toRow(row, header, columns)]
  // `Who is the head of IT?`: a cell says all that the question does, so its row tells who.
  if (at > 0) return asksWho.test(text) && left.length === 0 ? [toRow(row, header, [at])] : []
  return header.length > 2 ? [] : [toRow(row, header, [1])]
}

/** Minimum share of the topic in a table. */
const minTableShare = 0.5
const maxTied = 3

function extremeRows(question: Question, { header, rows }: Table, { has }: Evidence, extreme: string): readonly Row[] {
  const [first] = rows
  if (!first || rows.length < 2 || isName(extreme, header) || restricted.test(question.text)) return []
  // Of rows that are named, the extreme of all is no answer.
  const names = rows.map((row) => keysOf(cell(row, 0)))
  if (names.some((keys) => keys.length > 0 && keys.every((key) => question.topic.includes(key)))) return []
  const extremeKeys = keysOf(extreme)
  const topic = question.topic.filter((key) => !extremeKeys.includes(key))
  const context = [first.above, first.passage.head]
  const covered = topic.filter((key) => has(key, ...context, ...rows.map(({ keys }) => keys)))
  if (covered.length < minTableShare * topic.length) return []
  const columns = [...header.keys()]
    .slice(1)
    .map((at) => ({ at, name: header[at] ?? '', cells: rows.map((row) => cell(row, at)) }))
  const numeric = columns.filter(({ cells }) => cells.some((each) => /\d/.test(each)))
  const phrase = /\b(?:most|least) \p{L}+/iu.exec(question.text)?.[0] ?? extreme
  const measure = measures.find(([pattern]) => pattern.test(phrase))?.[1]
  const column =
    numeric.find(({ name }) => topic.some((key) => isCalled(name, key))) ??
    numeric.find(({ name, cells }) => measure?.test(name) || cells.every((each) => measure?.test(each)))
  // Without a column, all of them have to agree.
  const compared = column ? [column] : topic.every((key) => has(key, ...context)) ? numeric : []
  const [winners = [], ...others] = compared.map(({ name, cells }) => {
    const isAge = ofAge.test(question.text) && ageColumn.test(name)
    return extremesOf(valuesOf(cells, name), least.test(question.text) !== isAge)
  })
  if (winners.length > maxTied || others.some((other) => other.join() !== winners.join())) return []
  const shown = compared.map(({ at }) => at)
  return winners.map((at) => toRow(rows[at]!, header, shown))
}

/** Units of time in hours, so that they can be compared. */
const hours: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|sec|seconds?|sekunden?)$/, 1 / 3600],
  [/^(?:min|minutes?|minuten?)$/, 1 / 60],
  [/^(?:h|hrs?|hours?|std|stunden?)$/, 1],
  [/^(?:d|days?|tage?)$/, 24],
  [/^(?:weeks?|wochen?)$/, 24 * 7],
  [/^(?:months?|monate?)$/, 24 * 30.4],
  [/^(?:years?|jahre?)$/, 24 * 365],
]

/** The numbers of a column with their units; undefined for a cell without a number. */
function valuesOf(cells: readonly string[], name: string): ({ value: number; unit: string } | undefined)[] {
  const whole = cells.join('\n')
  // Before one or two digits a comma is a decimal mark. Dots group thousands if no other digits follow any of them,
  // and the prices are in euros.
  const isGrouped = /€|EUR/i.test(name + whole) && /\d\.\d/.test(whole) && !/\d\.\d(?!\d\d(?!\d))/.test(whole)
  const mark = isGrouped || /\d,\d\d?(?!\d)/.test(whole) ? ',' : '.'
  return cells.map((each) => {
    const digits = /[-−]?\d(?:[\d.,’' ]*\d)?/.exec(each)?.[0]
    if (digits === undefined) return undefined
    const plain = digits.replace('−', '-').replace(mark === ',' ? /[.’' ]/g : /[,’' ]/g, '')
    const rest = each.replace(digits, '').toLowerCase()
    const unit = rest.replace(/[\s.()~]|approx|about|ca/g, '')
    const time = hours.find(([pattern]) => pattern.test(unit))
    const value = Number(plain.replace(mark, '.'))
    return time ? { value: value * time[1], unit: 'hours' } : { value, unit }
  })
}

/** Indexes of the least or greatest values; [] if they cannot be compared, such as hours and metres. */
function extremesOf(values: ReturnType<typeof valuesOf>, isLeast: boolean): number[] {
  const known = values.filter((each) => each !== undefined)
  if (known.length < 2 || new Set(known.map(({ unit }) => unit)).size > 1) return []
  const wanted = (isLeast ? Math.min : Math.max)(...known.map(({ value }) => value))
  return [...values.keys()].filter((at) => values[at]?.value === wanted)
}
