import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { egress, type Egress, type EgressAnswer } from '@inlay/drivers/egress'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { Robot } from 'robots-parser'

/** A web page to ingest. Its URL is the id of the document. */
export interface SourcePage {
  readonly url: string
  readonly id: string
  /** All pages of its sitemap; absent for a page that was named. */
  readonly site?: ReadonlySet<string>
  /** Pause that its host asks for between two pages, in milliseconds. */
  readonly delayMs?: number
}

export interface SitePages {
  readonly pages: readonly SourcePage[]
  /** Messages about sitemaps that could not be read. */
  readonly failures: readonly string[]
  /** Pages that robots.txt closes. */
  readonly closed: number
}

/** Maximum size of a page or sitemap, in bytes. */
const maxBytes = 20 * 2 ** 20
/** Maximum size of an unpacked sitemap, in bytes: the sitemap protocol's limit. */
const maxSitemapBytes = 50 * 2 ** 20
/** Maximum number of sitemaps per URL, and of pages: the sitemap protocol's limits for one file. */
const maxSitemaps = 500
const maxPages = 50_000
/** The name to which robots.txt and pages refer; that of the header `User-Agent`. */
export const crawlerName = 'inlay'
/** Longer pauses between two pages than this are not kept, in seconds. */
const maxCrawlDelay = 30

/** Fetches pages of the hosts that the operator specified, including private ones. */
export function createPageFetch(urls: readonly string[]): Egress {
  return egress({ allowHosts: urls.map((url) => new URL(url).host), maxBytes, timeoutMs: 60_000 })
}

/**
 * The page at a URL, or all pages on the same host in a sitemap or in the sitemaps of a robots.txt, by URL. Pages of a
 * sitemap that robots.txt closes are left out, and each sitemap is read once.
 */
export async function findPages(fetch: Egress, address: string, signal: AbortSignal): Promise<SitePages> {
  const given = new URL(address)
  const isRobots = given.pathname === '/robots.txt'
  const isPage = !isRobots && !/\.xml(?:\.gz)?$/i.test(given.pathname)
  if (isPage) return { pages: [toPage(address)], failures: [], closed: 0 }
  try {
    const robots = await robotsOf(fetch, given, signal)
    const sitemaps = new Set(isRobots ? robots.getSitemaps() : [given.href])
    if (isRobots && sitemaps.size === 0) throw new InlayError('NOT_FOUND', { message: 'it names no sitemap.' })
    const { pages, failures } = await readSitemaps(fetch, given, sitemaps, signal)
    if (pages === undefined) return { pages: [toPage(address)], failures: [], closed: 0 }
    const open = [...pages].filter((url) => robots.isAllowed(url, crawlerName) !== false)
    const delayMs = 1000 * Math.min(maxCrawlDelay, robots.getCrawlDelay(crawlerName) ?? 0)
    const sourcePages = open.map((url) => ({ ...toPage(url), site: pages, delayMs }))
    return { pages: sourcePages, failures, closed: pages.size - open.length }
  } catch (error) {
    return { pages: [], failures: [failureOf(address, error)], closed: 0 }
  }
}

function failureOf(url: string, error: unknown): string {
  if (!isInlayError(error)) throw error
  return `${url}: ${error.message}`
}

/** @returns no pages if the first address is neither a sitemap nor an index of sitemaps */
async function readSitemaps(
  fetch: Egress,
  { href, host }: URL,
  sitemaps: Set<string>,
  signal: AbortSignal,
): Promise<{ pages: Set<string> | undefined; failures: string[] }> {
  const pages = new Set<string>()
  const failures: string[] = []
  let count = 0
  // Grows while it is read; what is in it already is not added again.
  for (const sitemap of sitemaps) {
    if (count++ === maxSitemaps) {
      failures.push(`${href}: more than ${maxSitemaps} sitemaps: give the others one by one.`)
      break
    }
    const text = await fetchSitemap(fetch, sitemap, signal).catch(
      (error) => void failures.push(failureOf(sitemap, error)),
    )
    if (text === undefined) continue
    const isIndex = /<(?:\w+:)?sitemapindex[\s>]/i.test(text)
    if (!isIndex && !/<(?:\w+:)?urlset[\s>]/i.test(text)) {
      if (sitemap === href) return { pages: undefined, failures }
      failures.push(`${sitemap}: the address holds no sitemap.`)
    }
    for (const [, location = ''] of text.matchAll(/<loc>([^<]*|\s*<!\[CDATA\[[^\]<]*\]\]>\s*)<\/loc>/gi)) {
      const url = URL.parse(plainLocation(location))
      if (url === null || url.host !== host) continue
      url.hash = ''
      if (isIndex) sitemaps.add(url.href)
      else if (pages.size < maxPages) pages.add(url.href)
      else if (!pages.has(url.href))
        return { pages, failures: [...failures, `${href}: more than ${maxPages} pages: give its sitemaps one by one.`] }
    }
  }
  return { pages, failures }
}

function plainLocation(location: string): string {
  return location
    .replace(/^\s*<!\[CDATA\[|\]\]>\s*$/g, '')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
    .trim()
}

async function fetchSitemap(fetch: Egress, url: string, signal: AbortSignal): Promise<string> {
  const { bytes } = await fetchPage(fetch, url, signal)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return new TextDecoder().decode(bytes)
  try {
    return new TextDecoder().decode(gunzipSync(bytes, { maxOutputLength: maxSitemapBytes }))
  } catch (error) {
    const message = `the packed sitemap is damaged, or larger than ${maxSitemapBytes / 2 ** 20} MiB.`
    throw new InlayError('BAD_GATEWAY', { message, cause: error })
  }
}

/** The rules of a host; one without robots.txt has none. @throws BAD_GATEWAY where it cannot be asked for them */
async function robotsOf(fetch: Egress, { origin }: URL, signal: AbortSignal): Promise<Robot> {
  const { default: robotsParser } = await import('robots-parser')
  const address = `${origin}/robots.txt`
  const { status, bytes } = await fetch(address, { signal, maxBytes: 512_000 })
  if (status >= 500 || status === 429) {
    const message = `robots.txt answered with status ${status}, so its pages are left alone: try again later.`
    throw new InlayError('BAD_GATEWAY', { message })
  }
  return robotsParser(address, status >= 200 && status <= 299 ? new TextDecoder().decode(bytes) : '')
}

function toPage(address: string): SourcePage {
  const url = new URL(address)
  url.hash = ''
  return { url: url.href, id: url.href }
}

/** @throws NOT_FOUND, BAD_GATEWAY for an error response */
export async function fetchPage(fetch: Egress, url: string, signal?: AbortSignal): Promise<EgressAnswer> {
  const answer = await fetch(url, signal === undefined ? {} : { signal })
  if (answer.status >= 200 && answer.status <= 299) return answer
  const code = answer.status === 404 || answer.status === 410 ? 'NOT_FOUND' : 'BAD_GATEWAY'
  throw new InlayError(code, { message: `the page answered with status ${answer.status}.` })
}

export interface PageRules {
  readonly isClosed: boolean
  /** The URL under which the page wants to be known, on the same host. */
  readonly canonical: string | undefined
}

/** Reads `X-Robots-Tag`, `<meta name="robots">` and `<link rel="canonical">`. */
export function pageRules({ url, headers, bytes }: EgressAnswer): PageRules {
  const rules = [headers.get('x-robots-tag') ?? '']
  let canonical = canonicalHref(headers.get('link') ?? '')
  const start = Buffer.from(bytes.subarray(0, 131_072)).toString('utf8')
  const [head = ''] = start.replace(/<!--[^]*?(?:-->|$)/g, '').split(/<body[\s>]|<\/head>/i, 1)
  for (const [, tag, text = ''] of head.matchAll(/<(meta|link)\s([^<>]*)>/gi)) {
    const fields = new Map(
      [...text.matchAll(/(?<![a-z-])([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/gi)].map(
        ([, name, ...values]) => [name!.toLowerCase(), values.find((value) => value !== undefined) ?? ''],
      ),
    )
    if (/^meta$/i.test(tag!) && /^(?:robots|inlay)$/i.test(fields.get('name') ?? ''))
      rules.push(fields.get('content') ?? '')
    if (/^link$/i.test(tag!) && /(?:^|\s)canonical(?:\s|$)/i.test(fields.get('rel') ?? ''))
      canonical ??= fields.get('href')
  }
  // Rules for crawlers of other names are not ours: `googlebot: noindex`.
  const isClosed = rules
    .flatMap((line) => line.split(','))
    .some((rule) => /^\s*(?:inlay\s*:\s*)?(?:noindex|none)\s*$/i.test(rule))
  const named = canonical === undefined ? null : URL.parse(canonical.replaceAll('&amp;', '&'), url)
  // Many templates name the start page on all pages, which would make one document of them.
  const isSound = named !== null && named.host === new URL(url).host && named.pathname !== '/'
  if (isSound) named.hash = ''
  return { isClosed, canonical: isSound ? named.href : undefined }
}

function canonicalHref(header: string): string | undefined {
  return /<([^<>]*)>\s*;\s*rel\s*=\s*"?canonical"?/i.exec(header)?.[1]
}

/** Keeps the pause that a host asks for between two of its pages. */
export function createPageTurns(signal: AbortSignal | undefined): { next(page: SourcePage): Promise<void> } {
  const lastTurns = new Map<string, Promise<unknown>>()
  return {
    async next({ url, delayMs = 0 }) {
      const { host } = new URL(url)
      const last = lastTurns.get(host)
      const turn = last && delayMs > 0 ? last.then(() => setTimeout(delayMs, undefined, { signal })) : Promise.resolve()
      lastTurns.set(host, turn)
      await turn
    },
  }
}
