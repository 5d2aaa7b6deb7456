import { isLike, keysOf } from '@inlay/text'
import type { Evidence } from './evidence.ts'
import type { ReadPassage, ReadUnit } from './page.ts'
import type { Question } from './question.ts'

/** Rows with the same header. */
interface Table {
  readonly header: readonly string[]
  readonly rows: readonly ReadUnit[]
}

/** Rows with the text to quote of each. */
export type Rows = readonly { readonly read: ReadUnit; readonly text: string }[]

interface Found {
  readonly rows: Rows
  /** Share of the question that the rows and what stands above them cover. */
  readonly share: number
}

const least =
  /least|minimum|fewest|\b(?:cheap|light|short|slow|old|earli|small|tini|low)est\b|(?:günstig|billig|leichte|kürze|langsam|älte|klein|niedrig)ste|wenigsten/i
const most =
  /\bmost\b|maximum|\b(?:dear|costli|prici|heavi|long|fast|quick|new|young|lat|larg|bigg|tall|high|great)est\b|(?:teuer|schwer|läng|schnell|neue|jüng|größ|höch)ste|meisten/i

/** Limits, exclusions and ranks: the extreme of all rows is no answer to them. */
const restricted =
  /\b(?:at least|at most|not|no|without|except|other than|but|second|third|fourth|fifth|next|[2-9](?:nd|rd|th)|mindestens|höchstens|nicht|kein\p{L}*|ohne|außer)(?!\p{L})|n['’]t\b|(?<!\p{L})(?:zweit|dritt|viert|nächst)/iu

/** With an age in a column, the youngest have the least. */
const ofAge = /\b(?:old|young)est\b|älteste|jüngste/i
const ageColumn = /\b(?:age|alter)\b/i

/** What questions call a measure, and what columns with it are called or hold. */
const measures: readonly (readonly [RegExp, RegExp])[] = [
  [
    /cheap|expensive|dear|cost|pric|how much|kostet|günstig|billig|teuer|cuesta|coûte/i,
    /pric|cost|fee|rate|preis|kosten|[€$£]|\beur\b|\busd\b/i,
  ],
  [/light|heav|weigh|leicht|schwer|wieg/i, /weigh|mass|gewicht|\bk?g\b/i],
  [/short|long|kürz|läng|lang/i, /length|duration|time|days|weeks|hours|minutes|distance|länge|dauer/i],
  [/slow|fast|quick|schnell|langsam/i, /speed|rate|tempo|geschwindigkeit/i],
  [/old|earl|new|young|lat|alt|ält|neu|jüng/i, /year|date|since|built|founded|jahr|datum|\b(?:age|alter)\b/i],
  [/small|tin|larg|big|klein|groß|größ/i, /size|area|capacity|height|größe|fläche/i],
  [/tall|high|low|great|hoch|höch|niedrig/i, /height|höhe/i],
]

/** Words that ask for a measure without most or least. */
const asksMeasure = /\b(?:how|wie) \p{L}+|\bcosts?\b|\bpric\p{L}*|\bweighs?\b|kostet|wiegt|cuesta|coûte/giu

/** Keys of words for any value: `the phone number of …`. */
const valueWord = /^(?:numb|nummer|addres|adress|amount|value|wert|name|date|datum)/

const asksWho = /^(?:who|whom|wer|wen|quién|qui|chi)(?!\p{L})/iu

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

const withGroupingDots = /^[^\d]*\d{1,3}(?:\.\d{3})+(?![\d.])/

/** Whether dots group thousands in a column: each dot stands before three digits, and the prices are in euros. */
function isGroupedByDots(cells: readonly string[], header: string): boolean {
  const dotted = cells.filter((each) => /\d\.\d/.test(each))
  return /€|EUR/i.test([header, ...cells].join(' ')) && dotted.every((each) => withGroupingDots.test(each))
}

/** Parses a number in English or continental notation, with the text around it. */
function readNumber(cell: string, isGrouped = false): { value: number; unit: string } | undefined {
  const digits = /[-−]?\d[\d.,’' ]*/.exec(cell)?.[0].trim()
  if (digits === undefined) return undefined
  const plain = digits
    .replace(/[’' ]/g, '')
    .replace('−', '-')
    .replace(/[.,]+$/, '')
  // If both marks occur, the last one is the decimal mark; a single mark before three digits groups thousands.
  const isDecimalComma = plain.lastIndexOf(',') > plain.lastIndexOf('.') && !/^-?\d{1,3}(?:,\d{3})+$/.test(plain)
  const isContinental = isDecimalComma || isGrouped
  const value = Number(isContinental ? plain.replaceAll('.', '').replace(',', '.') : plain.replaceAll(',', ''))
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
  const rows = passages.flatMap(({ units }) => units.filter((read) => cellsOf(read).length > 1))
  const tables = Map.groupBy(rows, ({ unit, passage: { source } }) =>
    [source.number ?? source.title, ...(unit.table?.header ?? [])].join('\n'),
  )
  return [...tables.values()].map((list) => ({ header: list[0]!.unit.table?.header ?? ['', ''], rows: list }))
}

/** The cells of a row; a label and its value, as in `Phone: 555 200.`, are a row of a table without a header. */
const cellsOf = ({ unit: { table, text } }: ReadUnit): readonly string[] =>
  table?.cells ?? /^([^:.]{2,30}): (\S.*)/.exec(text)?.slice(1) ?? []

/** Whether a column is called by a word, also in another form: `Shrinkage` by `shrinks`. */
const isCalled = (name: string, key: string): boolean =>
  keysOf(name).some((other) => other === key || isLike(key, other))

const cell = (row: ReadUnit, column: number): string => cellsOf(row)[column] ?? ''

/** The first cell and some others of a row, as a line. */
function lineOf(row: ReadUnit, header: readonly string[], columns: readonly number[]): string {
  if (columns.length === 0 || columns.includes(0)) return row.unit.text
  return `${cell(row, 0)}: ${columns.map((at) => `${header[at] ? `${header[at]} ` : ''}${cell(row, at)}`).join('; ')}`
}

/** The row that a question names, with the column that it names, or the row with the most or least of a column. */
export function lookUp(
  question: Question,
  passages: readonly ReadPassage[],
  evidence: Evidence,
  isKnown: boolean,
): Rows | undefined {
  const tables = tablesOf(passages)
  const bestOf = (find: (table: Table) => Found | undefined): Rows | undefined =>
    tables.flatMap((table) => find(table) ?? []).toSorted((left, right) => right.share - left.share)[0]?.rows
  const extreme = (least.exec(question.text) ?? most.exec(question.text))?.[0]
  return (
    (isKnown ? bestOf((table) => namedRow(question, table, evidence, extreme)) : undefined) ??
    (extreme === undefined ? undefined : bestOf((table) => extremeRow(question, table, evidence, extreme)))
  )
}

/** A column such as `Maximum salary` is a name, not a comparison. */
const isName = (extreme: string, header: readonly string[]): boolean => {
  const keys = keysOf(header.join(' '))
  return keysOf(extreme).every((key) => keys.includes(key))
}

function namedRow(
  question: Question,
  { header, rows }: Table,
  { has, shareOf }: Evidence,
  extreme: string | undefined,
): Found | undefined {
  if (extreme !== undefined && !isName(extreme, header)) return undefined
  const { topic, text } = question
  /** The cell of each row that holds most words of the question and fewest others. */
  const matches = rows.flatMap((row) =>
    header.map((_, at) => {
      const keys = new Set(keysOf(cell(row, at)))
      return { row, at, keys, matched: topic.filter((key) => has(key, keys)).length }
    }),
  )
  const [top, next] = matches.toSorted(
    (left, right) => right.matched - left.matched || left.keys.size - right.keys.size || left.at - right.at,
  )
  if (!top || top.matched < Math.max(1, top.keys.size / 2)) return undefined
  const isTie = next && next.row !== top.row && next.matched === top.matched && next.keys.size === top.keys.size
  if (isTie) return undefined
  const { row, at, keys } = top
  const left = topic.filter((key) => !has(key, keys))
  const measured = text.match(asksMeasure)?.join(' ') ?? ''
  const measure = measures.find(([pattern]) => pattern.test(measured))
  const scores = header.map((name, column) => {
    if (column === at || column === 0 || cell(row, column) === '') return 0
    const shared = left.filter((key) => isCalled(name, key)).length
    return shared + (measure?.[1].test(`${name} ${cell(row, column)}`) ? 0.5 : 0)
  })
  const score = Math.max(...scores)
  // Of `Salary from` and `Salary to`, the question may ask for either.
  const columns = score > 0 ? [...scores.keys()].filter((column) => scores[column] === score) : []
  const isCovered = left.every(
    (key) =>
      has(key, row.keys, row.above, row.passage.head) ||
      (columns.length > 0 && (valueWord.test(key) || measure?.[0].test(key))),
  )
  if (!isCovered) return undefined
  const share = shareOf(row.keys, row.above, row.passage.head)
  // `Who is the head of IT?`: a cell says all that the question does, so its row tells who.
  if (columns.length === 0 && at > 0 && asksWho.test(text))
    return left.length > 0 ? undefined : { rows: [{ read: row, text: lineOf(row, header, [at]) }], share }
  if (columns.length === 0 && (at > 0 || header.length > 2)) return undefined
  return { rows: [{ read: row, text: lineOf(row, header, columns.length > 0 ? columns : [1]) }], share }
}

/** Minimum share of the topic in a table. */
const minTableShare = 0.5
const maxTied = 3

function extremeRow(
  question: Question,
  { header, rows }: Table,
  { has }: Evidence,
  extreme: string,
): Found | undefined {
  const [first] = rows
  if (!first || rows.length < 2 || isName(extreme, header) || restricted.test(question.text)) return undefined
  // Of rows that are named, the extreme of all is no answer.
  const inQuestion = new Set(question.topic)
  const isNamed = (row: ReadUnit): boolean => {
    const keys = keysOf(cell(row, 0))
    return keys.length > 0 && keys.every((key) => inQuestion.has(key))
  }
  if (rows.some(isNamed)) return undefined
  const extremeKeys = keysOf(extreme)
  const topic = question.topic.filter((key) => !extremeKeys.includes(key))
  const context = [first.above, first.passage.head]
  const covered = topic.filter((key) => has(key, ...context, ...rows.map(({ keys }) => keys)))
  const share = topic.length === 0 ? 0 : covered.length / topic.length
  if (topic.length > 0 && share < minTableShare) return undefined
  const numeric = [...header.keys()].filter((at) => at > 0 && rows.some((row) => readNumber(cell(row, at))))
  const named = numeric.find((at) => topic.some((key) => isCalled(header[at] ?? '', key)))
  const phrase = /\b(?:most|least) \p{L}+/iu.exec(question.text)?.[0] ?? extreme
  const measure = measures.find(([pattern]) => pattern.test(phrase))?.[1]
  const usual = numeric.find(
    (at) => measure?.test(header[at] ?? '') || rows.every((row) => measure?.test(cell(row, at))),
  )
  const isAbout = topic.every((key) => has(key, ...context))
  // Without a column, all of them have to agree.
  const column = named ?? usual
  const columns = column !== undefined ? [column] : isAbout ? numeric : []
  const [winners, ...others] = columns.map((at) => {
    const isAge = ofAge.test(question.text) && ageColumn.test(header[at] ?? '')
    return rowsWithExtreme(rows, at, { name: header[at] ?? '', isLeast: least.test(question.text) !== isAge })
  })
  if (
    !winners ||
    winners.length === 0 ||
    winners.length > maxTied ||
    others.some((other) => other.join() !== winners.join())
  )
    return undefined
  return { rows: winners.map((at) => ({ read: rows[at]!, text: lineOf(rows[at]!, header, columns) })), share }
}

/** Indices of the rows with the least or most in a column; [] if its values cannot be compared. */
function rowsWithExtreme(
  rows: readonly ReadUnit[],
  column: number,
  { name, isLeast }: { readonly name: string; readonly isLeast: boolean },
): number[] {
  const cells = rows.map((row) => cell(row, column))
  const isGrouped = isGroupedByDots(cells, name)
  const numbers = cells.map((each) => readNumber(each, isGrouped))
  const known = numbers.filter((number) => number !== undefined)
  // Different units, such as hours and metres, cannot be compared.
  if (known.length < 2 || new Set(known.map(({ unit }) => unit)).size > 1) return []
  const values = known.map(({ value }) => value)
  const wanted = isLeast ? Math.min(...values) : Math.max(...values)
  return [...numbers.keys()].filter((at) => numbers[at]?.value === wanted)
}
