const earliest = Date.UTC(1800, 0, 1)
const latest = Date.UTC(3000, 0, 1)

/**
 * Parses the date formats of files to milliseconds since 1970 UTC: ISO 8601, RFC 2822, PDF (`D:2024…`), `2024/3/1`,
 * `12/31/2024` (month first, as on sites that use it), `March 1, 2024`. Without an offset, UTC is assumed.
 * @returns undefined for anything else, and for years outside 1800 to 3000
 */
export function toTimestamp(value: string): number | undefined {
  const text = value.trim()
  const timestamp = fromPdfDate(text) ?? fromNumbers(text) ?? fromWords(text)
  return timestamp !== undefined && timestamp > earliest && timestamp < latest ? timestamp : undefined
}

const pdfDate = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?/

function fromPdfDate(text: string): number | undefined {
  const match = pdfDate.exec(text)
  if (!match) return undefined
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', sign, hours, minutes] = match
  const offsetMs = sign ? (Number(hours) * 60 + Number(minutes ?? 0)) * 60_000 * (sign === '+' ? 1 : -1) : 0
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) - offsetMs
}

const isoDate =
  /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T\s]+(\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i
const monthFirst = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/

function fromNumbers(text: string): number | undefined {
  const american = monthFirst.exec(text)
  if (american) return utcDay(american[3]!, american[1]!, american[2]!)
  const match = isoDate.exec(text)
  if (!match) return undefined
  const [, year, month, day, time, zone = 'Z'] = match
  if (time === undefined) return utcDay(year!, month!, day!)
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
  return finite(Date.parse(`${year}-${twoDigits(month!)}-${twoDigits(day!)}T${wholeTime(time)}${offset}`))
}

function utcDay(year: string, month: string, day: string): number | undefined {
  return finite(Date.parse(`${year}-${twoDigits(month)}-${twoDigits(day)}T00:00:00Z`))
}

function wholeTime(time: string): string {
  const [hour, minute, second = '00'] = time.replace(',', '.').split(':')
  return `${twoDigits(hour!)}:${minute}:${second.replace(/(\.\d{3})\d+$/, '$1')}`
}

function twoDigits(digits: string): string {
  return digits.padStart(2, '0')
}

const namedMonth = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i
const namedZone = /(?:[+-]\d{4}|\b(?:gmt|utc?|z|[ecmp][sd]t))\b/i

function fromWords(text: string): number | undefined {
  if (!namedMonth.test(text) || !/\d{4}/.test(text)) return undefined
  // Comments such as "(CEST)" behind an offset are allowed in mail and mean nothing.
  const plain = text.replace(/\([^()]*\)/g, '').trim()
  return finite(Date.parse(namedZone.test(plain) ? plain : `${plain} UTC`))
}

function finite(timestamp: number): number | undefined {
  return Number.isFinite(timestamp) ? timestamp : undefined
}
