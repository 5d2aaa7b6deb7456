/** A title split into what it names and what tells its versions apart. */
export interface TitleVersion {
  /** What it names: its words without date, version and status; "" if there are no others. */
  readonly name: string
  /** A date or year, as `2025-03-12`, `2025-03` or `2025`; "" for none. */
  readonly date: string
  /** A version or edition, as `1.10`; "" for none. */
  readonly version: string
  /** -1 for a draft or a copy, 1 for what is called final, otherwise 0. */
  readonly status: -1 | 0 | 1
  /**
   * Documents of one family replace each other. Records, such as minutes or yearbooks, are of one family only with the
   * same date, and those about an interface with the same version.
   */
  readonly family: string
}

const year = String.raw`(?:19|20)\d\d(?!\d)`
/** A date anywhere: `2025-03-12`, `12.03.2025`, `12/3/2025`, `2025年3月12日`. */
const numericDate = new RegExp(
  String.raw`(?<!\d)(?:(${year})([-./年])(0?[1-9]|1[0-2])(?!\d)(?:(?:\2|月)(\d\d?)日?)?|(\d\d?)[./](\d\d?)[./](${year}))(?![\d.])月?`,
  'gu',
)
/** A year, school year or quarter at an end of the title or beside a sign: elsewhere it is part of a name. */
const lonelyYear = new RegExp(
  String.raw`(?<=^|[^\p{L}\p{N}\s]\s{0,3})(?:q[1-4]\s*)?(${year})(?:\s*[-/–]\s*(?:\d\d){1,2}(?!\d))?年?|(?<!\p{N})(?:q[1-4]\s*)?(${year})(?:\s*[-/–]\s*(?:\d\d){1,2}(?!\d))?年?(?=\s*(?:[^\p{L}\p{N}\s]|$))`,
  'giu',
)
const versionName =
  'v|ver|version|versión|versão|versione|versie|wersja|версия|rev|revision|revisión|release|ed|edition|fassung|stand|auflage|ausgabe'
const versionNumber = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:(?:${versionName})(?:[.\s]*(\d+(?:\.\d+)*)|[.\s]+([a-z])(?!\p{L}))|(\d+)(?:st|nd|rd|th|\.|ª|e)?\s*(?:edition|auflage|ausgabe|édition|edición|edizione|edição|editie)(?!\p{L})|(\d+(?:\.\d+)+)(?=\s*(?:[^\p{L}\p{N}\s]|$)))|第(\d+)版`,
  'giu',
)
const drafts =
  'draft|old|copy|superseded|archived|obsolete|outdated|entwurf|alt|kopie|brouillon|borrador|bozza|rascunho|concept|utkast'
const finals = 'final|new|current|neu|endfassung|definitivo|definitief'
const statusWord = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:(${drafts})|(?:${finals}))(?=\s*(?:[^\p{L}\p{N}\s]|$))`,
  'giu',
)

/** Nouns of documents about a time, also at the end of a compound. */
const records =
  /(?<!\p{L})(?:minutes|meetings?|reports?|year-?books?|newsletters?|invoices?|receipts?|statements?|results|reviews?|agendas?|logs?|bulletins?|surveys?|budgets?|notes?|changelogs?|diar(?:y|ies)|interviews?|transcripts?|trips?|conferences?|procès-verbal|compte[- ]rendu|rapports?|annuaires?|factures?|actas?|informes?|memorias?|anuarios?|facturas?|verbal[ei]|relazion[ei]|annuari[oi]?|fattur[ae]|atas?|relatórios?|anuários?|faturas?|notulen|jaarboek|factuur|sprawozdanie|raport|rocznik|faktura|årsbok)(?!\p{L})|(?:protokolle?|protokół|berichte?|jahrb(?:uch|ücher)|rechnung(?:en)?|abschluss|bilanz|umfragen?|rundbriefe?|verslag|rapport|протокол|отч[её]т|ежегодник)(?!\p{L})|纪要|紀要|报告|報告|年鉴|年鑑|議事録/iu
const interfaces = /(?<!\p{L})(?:apis?|sdks?|endpoints?|schemas?|schnittstellen?)(?!\p{L})/iu
/** Nouns of documents that hold until another one replaces them, whatever else the title names. */
const rules =
  /(?<!\p{L})(?:polic(?:y|ies)|guidelines?|rules?|handbooks?|manuals?|guides?|procedures?|regulations?|templates?|instructions?)(?!\p{L})|(?:richtlinien?|ordnung|handbuch|leitfaden|anleitung|vorlage|regeln)(?!\p{L})/iu

let monthDate: { readonly pattern: RegExp; readonly numbers: ReadonlyMap<string, number> } | undefined

/** `12 March 2025`, `März 2025`, `March 12, 2025`, with the months of some languages. */
function monthDates() {
  if (monthDate) return monthDate
  const numbers = new Map<string, number>()
  for (const language of ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'ru'])
    for (const month of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(language, { day: 'numeric', month })
      for (let at = 0; at < 12; at++) {
        const { value } = format.formatToParts(new Date(2024, at, 5)).find(({ type }) => type === 'month')!
        const name = value.toLowerCase().replace('.', '')
        if (/\p{L}{3}/u.test(name)) numbers.set(name, at + 1)
      }
    }
  const names = [...numbers.keys()].toSorted((a, b) => b.length - a.length).join('|')
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:(\d\d?)(?:st|nd|rd|th|\.|er)?\s+(?:de\s+|of\s+)?)?(${names})\.?\s+(?:(\d\d?)(?:st|nd|rd|th)?,?\s+)?(?:de\s+)?(${year})`,
    'giu',
  )
  return (monthDate = { pattern, numbers })
}

/** Joins the year, the month and the day, if there is one. */
const dateOf = (...parts: (string | number | undefined)[]): string =>
  parts.flatMap((part) => (part ? [String(part).padStart(2, '0')] : [])).join('-')

/** Titles are cut here, since some patterns look back over spaces. */
const maxLength = 300

export function titleVersion(title: string): TitleVersion {
  const parts = { dates: [] as string[], versions: [] as string[], statuses: [] as (-1 | 1)[] }
  const taken = (list: unknown[], value: unknown): string => (list.push(value), ' | ')
  let rest = title.slice(0, maxLength).toLowerCase()
  if (/\p{N}/u.test(rest)) {
    rest = rest.replace(numericDate, (_, y, _sign, m, d, dd, mm, yy) =>
      taken(parts.dates, y ? dateOf(y, m, d) : dateOf(yy, mm, dd)),
    )
    if (/(?:19|20)\d\d/.test(rest)) {
      const { pattern, numbers } = monthDates()
      rest = rest.replace(pattern, (_, d1, name, d2, y) => taken(parts.dates, dateOf(y, numbers.get(name), d1 ?? d2)))
    }
  }
  rest = rest.replace(versionNumber, (_, ...given) => taken(parts.versions, given.slice(0, 5).find(Boolean)))
  rest = rest.replace(lonelyYear, (_, first, last) => taken(parts.dates, first ?? last))
  rest = rest.replace(statusWord, (_, draft) => taken(parts.statuses, draft ? -1 : 1))
  const name = (rest.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')
  const date = parts.dates.toSorted().at(-1) ?? ''
  const version = parts.versions.join(' ')
  const isRule = rules.test(rest)
  const ofRecord = records.test(rest) && !isRule ? date || version : ''
  const ofInterface = interfaces.test(rest) && !isRule ? version : ''
  return { name, date, version, status: parts.statuses[0] ?? 0, family: [name, ofRecord, ofInterface].join('|') }
}
