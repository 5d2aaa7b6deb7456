import { keep, readKept } from '../kept.ts'

/** The languages of the page. To add one, add it here, in `texts.ts` and in `view-texts.ts`, and translate the folder `en`. */
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

const storageName = 'inlay-language'

/** Tag for dates, numbers and plurals: the browser's own (`en-GB`) where it is of the page's language. */
let tag = 'en'

export function setLocale(language: Language): void {
  tag = wantedTags().find((wanted) => languageOf(wanted) === language && isFormatTag(wanted)) ?? language
  formats.clear()
}

/** The language chosen in this browser; null where the browser's languages decide. */
export const chosenLanguage = (): Language | null => toLanguage(readKept(storageName) ?? '')

/** Keeps the choice and opens the page again: drafts stay, and an answer goes on at the server. */
export function chooseLanguage(language: Language | null): void {
  keep(storageName, language)
  location.reload()
}

/** The first of these languages that the page has; English where it has none of them. */
export function preferredLanguage(tags: readonly string[] = wantedTags()): Language {
  return tags.map(languageOf).find((language) => language !== null) ?? 'en'
}

const wantedTags = (): readonly string[] => globalThis.navigator?.languages ?? []

/** A browser may name a language that its own formatters refuse: Chromium under the POSIX locale says `en-US@posix`. */
function isFormatTag(wanted: string): boolean {
  try {
    return Intl.getCanonicalLocales(wanted).length > 0
  } catch {
    return false
  }
}

const languageOf = (wanted: string): Language | null => toLanguage(wanted.split('-', 1)[0]?.toLowerCase() ?? '')
const toLanguage = (name: string): Language | null => (name in languages ? (name as Language) : null)

const formats = new Map<string, unknown>()

/** Formatters are slow to make, so each is kept. */
function kept<Format>(name: string, make: () => Format): Format {
  const known = formats.get(name) ?? make()
  formats.set(name, known)
  return known as Format
}

/** The form of a count in the language of the page; `#` stands for the number. */
export function plural(
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string },
): string {
  const rule = kept('plural', () => new Intl.PluralRules(tag)).select(count)
  return (forms[rule] ?? forms.other).replaceAll('#', formatNumber(count))
}

/** 12,345 */
export const formatNumber = (value: number): string => kept('number', () => new Intl.NumberFormat(tag)).format(value)

/** 12.3K */
export const formatCompact = (value: number): string =>
  kept('compact', () => new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 })).format(value)

/** 12% of .12 */
export const formatPercent = (value: number): string =>
  kept('percent', () => new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 1 })).format(value)

/** 12.3 MB */
export function formatBytes(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const options = { style: 'unit', unit: units[step]!, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return kept(`bytes ${step}`, () => new Intl.NumberFormat(tag, options)).format(bytes / 1000 ** step)
}

/** 85 ms, 1.2 sec */
export function formatSeconds(seconds: number): string {
  const [unit, value] =
    seconds < 1 ? (['millisecond', Math.round(seconds * 1000)] as const) : (['second', seconds] as const)
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return kept(unit, () => new Intl.NumberFormat(tag, options)).format(value)
}

/** 27 Nov 2026 */
export const formatDay = (date: Date): string =>
  kept('day', () => new Intl.DateTimeFormat(tag, { dateStyle: 'medium' })).format(date)

/** 14:32 */
export const formatHour = (date: Date): string =>
  kept('hour', () => new Intl.DateTimeFormat(tag, { timeStyle: 'short' })).format(date)

/** 27 Nov 2026, 14:32 */
export const formatTimestamp = (date: Date): string =>
  kept('moment', () => new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short' })).format(date)

/** 42s, 12m 5s, 3h 20m */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  const parts: readonly (readonly [unit: string, value: number])[] = [
    ['hour', Math.floor(whole / 3600)],
    ['minute', Math.floor(whole / 60) % 60],
    ['second', whole % 60],
  ]
  const first = parts.findIndex(([, value]) => value > 0)
  // Two units say enough.
  return parts
    .slice(first < 0 ? 2 : first, first < 0 ? 3 : first + 2)
    .filter(([, value]) => value > 0 || first < 0)
    .map(([unit, value]) =>
      kept(`duration ${unit}`, () => new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'narrow' })).format(
        value,
      ),
    )
    .join(' ')
}
