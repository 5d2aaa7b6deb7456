import type { WebResult } from '@inlay/agent'
import { InlayError, isJsonObject } from '@inlay/protocol'
import { toTimestamp } from '../files/timestamps.ts'

export interface FoundPage {
  readonly title: unknown
  readonly url: unknown
  readonly snippet: unknown
  /** A date in any of the ways services write them. */
  readonly date?: unknown
}

export interface PageReading {
  /** Name of the service, as the beginning of a sentence: `Brave Search`. */
  readonly subject: string
  readonly read: (row: Readonly<Record<string, unknown>>) => FoundPage
  /** Turns titles and snippets of the service into plain text. Default: they are. */
  readonly toPlain?: (text: string) => string
}

const maxTitleLength = 500
const maxSnippetLength = 4_000

/**
 * In order: only http and https, each URL once.
 * @param rows absent and null mean no results, as services omit empty lists @throws BAD_GATEWAY for anything but a list
 */
export function toWebResults(rows: unknown, reading: PageReading, limit: number): WebResult[] {
  const { subject, read, toPlain = (text) => text } = reading
  const listed: unknown = rows ?? []
  if (!Array.isArray(listed)) throw unusable(subject)
  const results = new Map<string, WebResult>()
  for (const row of listed) {
    if (results.size >= limit) break
    if (!isJsonObject(row)) continue
    const { title, url, snippet, date } = read(row)
    const address = webAddress(url)
    if (address === undefined || results.has(address)) continue
    const publishedAt = typeof date === 'string' ? (toTimestamp(date) ?? fromAge(date)) : undefined
    results.set(address, {
      title: oneLine(title, toPlain).slice(0, maxTitleLength),
      url: address,
      snippet: oneLine(snippet, toPlain).slice(0, maxSnippetLength),
      ...(publishedAt === undefined ? {} : { publishedAt }),
    })
  }
  return [...results.values()]
}

export function asReply(reply: unknown, subject: string): Readonly<Record<string, unknown>> {
  if (isJsonObject(reply)) return reply
  throw unusable(subject)
}

function unusable(subject: string): InlayError {
  return new InlayError('BAD_GATEWAY', {
    message: `${subject} sent something else than search results: check its base URL.`,
  })
}

function webAddress(url: unknown): string | undefined {
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  return url
}

function oneLine(text: unknown, toPlain: (text: string) => string): string {
  return typeof text === 'string' ? toPlain(text).replace(/\s+/g, ' ').trim() : ''
}

const unitDays = { minute: 1 / 1440, hour: 1 / 24, day: 1, week: 7, month: 30, year: 365 } as const

/** Parses a relative age such as `3 days ago` to milliseconds since 1970 UTC; undefined for anything else. */
function fromAge(text: string): number | undefined {
  const match = /^(\d{1,3}) (minute|hour|day|week|month|year)s? ago$/i.exec(text.trim())
  // The pattern allows no other unit.
  const unit = match?.[2]?.toLowerCase() as keyof typeof unitDays | undefined
  return unit === undefined ? undefined : Date.now() - Number(match?.[1]) * unitDays[unit] * 86_400_000
}
