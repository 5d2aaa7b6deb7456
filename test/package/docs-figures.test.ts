import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface FigureTable {
  readonly page: string
  readonly line: number
  /** Its section, from its heading to the next. */
  readonly section: string
}

const figure = /^(?:\*\*)?[\d.,]+(?:\s?[/+]\s?[\d.,]+)*\s?(?:ms|s|GB|MB|TB|kB|µs|%|tokens)?(?:\*\*)?$/
const page = (file: string): string => readFileSync(file, 'utf8')

/** Figures that are limits in the code, not measurements. */
const ofBounds = /\b(?:bound|limit|default|at most|every so many)\b/i

/** Tables of which a third of the cells beyond the first column are measured figures. */
function figureTables(file: string): FigureTable[] {
  const lines = page(file).split('\n')
  return lines.flatMap((rule, at): FigureTable[] => {
    if (!/^\|[ :|-]+\|$/.test(rule) || ofBounds.test(lines[at - 1] ?? '')) return []
    const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'))
    const rows = lines.slice(at + 1, end === -1 ? undefined : end)
    const cells = rows
      .flatMap((row) => row.split('|').slice(2, -1))
      .map((cell) => cell.trim())
      .filter((cell) => cell !== '')
    if (cells.filter((cell) => figure.test(cell)).length <= cells.length / 3) return []
    const from = lines.findLastIndex((line, index) => index < at && line.startsWith('#'))
    const to = lines.findIndex((line, index) => index > at && line.startsWith('#'))
    return [{ page: file, line: at, section: lines.slice(from, to === -1 ? undefined : to).join('\n') }]
  })
}

const tables = globSync('docs/**/*.md').flatMap(figureTables)

test('every table of figures says which command gave it, and when', () => {
  expect(tables.length).toBeGreaterThan(3)
  const isDated = ({ section }: FigureTable): boolean => {
    const plain = section.replaceAll('\n', ' ')
    return /[Mm]easured\b[^.]*`(?:npm run [^`]+|inlay eval[^`]*)`[^.]*\d{4}-\d{2}-\d{2}/.test(plain)
  }
  const undated = tables.filter((table) => !isDated(table)).map(({ page, line }) => `${page}:${line}`)
  const remedy =
    'these tables need a sentence "Measured with `npm run …` on YYYY-MM-DD" in their section; figures that nobody ' +
    'measured, such as sizes of a vendor, belong into a sentence, or below one with "limit" or "default"'
  expect(undated, remedy).toEqual([])
})

test('the pages on LanceDB and on sizes name the thresholds of the code', () => {
  const code = page('packages/drivers/src/lancedb/index.ts')
  const valueOf = (name: string): number =>
    Number(new RegExp(`${name} = ([\\d_]+)`).exec(code)![1]!.replaceAll('_', ''))
  const rows = valueOf('vectorIndexRows').toLocaleString('en')
  const bytes = valueOf('exactVectorBytes')
  const exactRows = (Math.floor(bytes / (4 * 384) / 1000) * 1000).toLocaleString('en')
  const [lancedb, sizes] = ['docs/2.drivers/lancedb.md', 'docs/8.sizes.md'].map((file) =>
    page(file).replaceAll('\n', ' '),
  )
  for (const text of [lancedb!, sizes!]) {
    expect(text).toMatch(new RegExp(`${rows} (?:rows|chunks)[^.]*index[^.]*?(?:\\. [^.]*)?IVF_FLAT`))
    expect(text).toMatch(new RegExp(`${exactRows} [^.]*IVF_RQ`))
  }
  expect(lancedb).toContain(`${bytes / 1e6} MB`)
})
