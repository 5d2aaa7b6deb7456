import { elementsIn, parseXml } from './markup.ts'

/** Display format of a number, as far as its meaning depends on it. */
export type NumberStyle = 'plain' | 'percent' | 'date' | 'time' | 'timestamp' | Amount

/** A number with a currency or a unit before or after it. */
interface Amount {
  readonly before: string
  readonly behind: string
  readonly decimals: number
}

/** Formats every workbook has without writing them down (ECMA-376 part 1, 18.8.30, East Asian dates among them). */
function builtInStyle(id: number): NumberStyle {
  if (id === 9 || id === 10) return 'percent'
  if (id === 22) return 'timestamp'
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 54) || (id >= 57 && id <= 58))
    return 'date'
  return (id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47) || id === 55 || id === 56
    ? 'time'
    : 'plain'
}

/** The style of each cell format of a workbook, by the number cells name it with. */
export function cellFormats(bytes: Uint8Array): NumberStyle[] {
  const custom = new Map<number, NumberStyle>()
  const formats: NumberStyle[] = []
  for (const list of elementsIn(parseXml(bytes))) {
    for (const { name, attributes } of elementsIn(list, () => false)) {
      const id = Number(attributes['numFmtId'])
      if (list.name === 'numFmts' && name === 'numFmt') custom.set(id, styleOf(attributes['formatCode'] ?? ''))
      if (list.name === 'cellXfs' && name === 'xf') formats.push(custom.get(id) ?? builtInStyle(id))
    }
  }
  return formats
}

/** Number style of a format code; quoted words, escaped letters, colours and locales are ignored. */
export function styleOf(code: string): NumberStyle {
  const [positive = ''] = code.replace(/"[^"]*"|\\.|_.|\*./g, '').split(';')
  const plain = positive.replace(/\[(?!(?:h+|m+|s+)\])[^[\]]*\]/gi, '')
  if (/general/i.test(plain)) return 'plain'
  if (plain.includes('%')) return 'percent'
  const hasTime = /[hs]/i.test(plain)
  const hasDate = /[yd]/i.test(plain) || (!hasTime && /m/i.test(plain))
  if (hasDate) return hasTime ? 'timestamp' : 'date'
  return hasTime ? 'time' : (amountOf(code) ?? 'plain')
}

const placeholders = /[#0?][#0?,.\s]*/

/** Currency and unit of a format such as `[$€-407] #,##0.00` or `0.0" kg"`; undefined for neither. */
function amountOf(code: string): Amount | undefined {
  const [positive = ''] = code.split(';')
  const shown = positive
    .replace(/_.|\*./g, '')
    .replace(/\[\$([^[\]-]*)(?:-[^[\]]*)?\]/g, '$1')
    .replace(/\[[^[\]]*\]/g, '')
    .replace(/"([^"]*)"|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? '')
  const digits = placeholders.exec(shown)
  if (!digits) return undefined
  const before = shown.slice(0, digits.index).trimStart()
  const behind = shown.slice(digits.index + digits[0].trimEnd().length).trimEnd()
  // Letters and currency signs are meaningful; brackets and dashes are only decoration.
  if (!/[\p{L}\p{Sc}]/u.test(before + behind) || /[#0?]/.test(behind)) return undefined
  return { before, behind, decimals: /\.([0#?]+)/.exec(digits[0])?.[1]?.length ?? 0 }
}

const dayMs = 86_400_000
/** Days; a larger number with a time format is a date of which only the time is shown. */
const longestTime = 366

/** A number as displayed in the sheet: dates in ISO 8601, everything else without rounding noise. */
export function shownNumber(text: string, style: NumberStyle, from1904: boolean): string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return text.trim()
  if (typeof style === 'object') {
    const amount = Math.abs(value).toFixed(Math.min(style.decimals, 20))
    return `${value < 0 ? '-' : ''}${style.before}${amount}${style.behind}`
  }
  if (style === 'percent') return `${tidy(value * 100)}%`
  if (style === 'plain' || value < 0 || value > 2_958_466) return tidy(value)
  if (style === 'time' && value < longestTime) return shownTime(value)
  const instant = new Date(Math.round(daysSince1970(value, from1904) * 86_400) * 1000)
  const [date = '', time = ''] = instant.toISOString().split('T')
  return style !== 'date' && value % 1 !== 0 ? `${date} ${time.slice(0, 8)}` : date
}

/** Days are counted from 1900, with a 29 February 1900 that never was, or from 1904. */
function daysSince1970(days: number, from1904: boolean): number {
  if (from1904) return days - 24_107
  return days < 60 ? days - 25_568 : days - 25_569
}

function shownTime(days: number): string {
  const seconds = Math.round((days * dayMs) / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** Office computes with 15 digits; the binary fraction shows beyond. */
function tidy(value: number): string {
  return String(Number(value.toPrecision(15)))
}
