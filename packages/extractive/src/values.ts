import { toCardinal as arabic } from 'n2words/ar-SA'
import { toCardinal as danish } from 'n2words/da-DK'
import { toCardinal as german } from 'n2words/de-DE'
import { toCardinal as english } from 'n2words/en-US'
import { toCardinal as spanish } from 'n2words/es-ES'
import { toCardinal as french } from 'n2words/fr-FR'
import { toCardinal as italian } from 'n2words/it-IT'
import { toCardinal as dutch } from 'n2words/nl-NL'
import { toCardinal as polish } from 'n2words/pl-PL'
import { toCardinal as portuguese } from 'n2words/pt-PT'
import { toCardinal as russian } from 'n2words/ru-RU'
import { toCardinal as swedish } from 'n2words/sv-SE'
import { toCardinal as turkish } from 'n2words/tr-TR'

const cardinals: Readonly<Record<string, (value: number) => string>> = {
  ar: arabic,
  da: danish,
  de: german,
  en: english,
  es: spanish,
  fr: french,
  it: italian,
  nl: dutch,
  pl: polish,
  pt: portuguese,
  ru: russian,
  sv: swedish,
  tr: turkish,
}

interface WrittenDate {
  readonly year: number | undefined
  readonly month: number
  readonly day: number | undefined
}

/** Dates and numbers of a text, in any notation. */
export interface Values {
  readonly dates: readonly WrittenDate[]
  /** Of a range, the numbers that it is between. */
  readonly numbers: readonly (readonly [least: number, most: number])[]
  /** Where dates and numbers stand in the text, as start and end. */
  readonly spans: readonly (readonly [start: number, end: number])[]
}

interface NumberWords {
  /** Values by their words, which are separated by one space. */
  readonly values: ReadonlyMap<string, number>
  /** Thousand, million and billion. */
  readonly scales: ReadonlyMap<string, number>
}

const wordsByLanguage = new Map<string, NumberWords>()
const spaced = (words: string): string => words.toLowerCase().replace(/[-\s]+/g, ' ')

/** The words for numbers up to 100, and for round ones above. */
function numberWordsOf(language: string): NumberWords {
  const known = wordsByLanguage.get(language)
  if (known) return known
  const values = new Map<string, number>()
  const written = cardinals[language]
  for (let step = 1; written !== undefined && step <= 1_000; step *= 10)
    for (let count = step === 1 ? 2 : 1; count <= 100; count++) {
      const words = written(count * step)
      values.set(spaced(words), count * step).set(words.replaceAll('-', ''), count * step)
    }
  const scales = new Map<string, number>()
  for (const scale of [1e3, 1e6, 1e9])
    for (const compactDisplay of ['long', 'short'] as const)
      for (const value of [scale, 2 * scale]) {
        const parts = new Intl.NumberFormat(language, { notation: 'compact', compactDisplay }).formatToParts(value)
        const name =
          parts
            .find(({ type }) => type === 'compact')
            ?.value.toLowerCase()
            .replace(/\.$/, '') ?? ''
        if (name.length > 1) scales.set(name, scale)
      }
  const words = { values, scales }
  wordsByLanguage.set(language, words)
  return words
}

/** Dates are looked for in pieces of this length, since a library reads a text several times. */
const maxPieceLength = 1_000

async function datesIn(text: string, language: string): Promise<(WrittenDate & { start: number; end: number })[]> {
  if (!/\d/.test(text)) return []
  const chrono = await import('chrono-node')
  const locales: Readonly<Record<string, unknown>> = { ...chrono }
  const locale = locales[language] as { readonly strict?: typeof chrono.strict } | undefined
  // `2/12/2025` is in December everywhere but in American English, where it may be either.
  const parsers = [locale?.strict ?? chrono.strict, chrono.en.GB]
  const dates: (WrittenDate & { start: number; end: number })[] = []
  for (let from = 0; from < text.length; from += maxPieceLength) {
    const piece = text.slice(from, from + maxPieceLength)
    if (!/\d/.test(piece)) continue
    for (const [at, parser] of parsers.entries())
      for (const { text: written, index, start, end } of parser.parse(piece)) {
        const isAmerican = at === 0 && language !== 'en' && start.tags().has('parser/SlashDateFormatParser')
        for (const date of [start, ...(end ? [end] : [])])
          // Tomorrow and last week stand for no date of a document.
          if (date.isCertain('month') && /\d/.test(written) && !isAmerican && !date.tags().has('result/relativeDate'))
            dates.push({
              year: date.isCertain('year') ? date.get('year')! : undefined,
              month: date.get('month')!,
              day: date.isCertain('day') ? date.get('day')! : undefined,
              start: from + index,
              end: from + index + written.length,
            })
      }
  }
  return dates
}

const digits = /\d{1,3}(?:[.,'’\u0020\u00A0\u202F]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*/g
const grouped = /^\d{1,3}(?:([.,'’\u0020\u00A0\u202F])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$/

/** The number that digits stand for: a mark before three of them groups, another one begins decimals. */
function numberOf(written: string): number {
  const mark = grouped.exec(written)?.[1]
  const plain = mark === undefined ? written : written.replaceAll(mark, '')
  return Number(plain.replace(',', '.'))
}

/** What stands between the two numbers of a range. */
const rangeSign = /^\s?(?:[-–—〜～~]|to|bis|à|a|al|tot|till?|do|до|إلى|至|到|から)\s?$/iu

/** Whether a hyphen stands in a code or a telephone number: 030-9001000, 40-2024117. */
const isCode = (between: string, first: string, second: string): boolean =>
  between === '-' && (/^0\d/.test(first) || /^0\d/.test(second) || second.length > first.length + 2)

/** The text has single spaces: runs cost the library for dates more than linear time. The language is ISO 639-1. */
export async function valuesIn(text: string, language: string): Promise<Values> {
  const dates = await datesIn(text, language)
  const letters = text.split('')
  for (const { start, end } of dates) letters.fill(' ', start, end)
  const plain = letters.join('')
  const { values, scales } = numberWordsOf(language)
  const readNumbers: { value: number; start: number; end: number }[] = []
  for (const match of plain.matchAll(digits)) {
    const value = numberOf(match[0])
    // A version such as 3.1.2 is a name.
    if (!Number.isNaN(value)) readNumbers.push({ value, start: match.index, end: match.index + match[0].length })
  }
  const byEnd = new Map(readNumbers.map((number) => [number.end, number]))
  const words = [...plain.matchAll(/[\p{L}\p{M}]+/gu)]
  const maxWords = 4
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    const scale = scales.get(word[0].toLowerCase())
    const scaled = scale && (byEnd.get(word.index) ?? byEnd.get(word.index - 1))
    if (scaled) scaled.value *= scale
    for (let count = Math.min(maxWords, words.length - at); count > 0; count--) {
      const last = words[at + count - 1]!
      const end = last.index + last[0].length
      const value = values.get(spaced(plain.slice(word.index, end)))
      if (value === undefined) continue
      readNumbers.push({ value, start: word.index, end })
      at += count - 1
      break
    }
  }
  readNumbers.sort((left, right) => left.start - right.start)
  const ranges = readNumbers.flatMap(({ value, start, end }, at) => {
    const next = readNumbers[at + 1]
    if (!next || value >= next.value) return []
    const between = plain.slice(end, next.start)
    const isRange = !isCode(between, plain.slice(start, end), plain.slice(next.start, next.end))
    return isRange && rangeSign.test(between) ? [[value, next.value] as const] : []
  })
  return {
    dates,
    numbers: [...readNumbers.map(({ value }) => [value, value] as const), ...ranges],
    spans: [...dates, ...readNumbers].map(({ start, end }) => [start, end] as const),
  }
}

/** Whether each date and number stands among others; one in a range of them does. */
export function holdsValues(values: Values, given: Pick<Values, 'dates' | 'numbers'>): boolean {
  const isSame = (left: number | undefined, right: number | undefined): boolean =>
    left === undefined || right === undefined || left === right
  return (
    given.dates.every(({ year, month, day }) =>
      values.dates.some((other) => isSame(year, other.year) && month === other.month && isSame(day, other.day)),
    ) &&
    given.numbers.every(
      ([value]) =>
        values.numbers.some(([least, most]) => least <= value && value <= most) ||
        values.dates.some(({ year }) => year === value),
    )
  )
}
