import { egress, type Egress, type EgressAnswer } from '@inlay/drivers/egress'
import { InlayError, isInlayError } from '@inlay/protocol'

/** A web page to ingest. Its URL is the id of the document. */
export interface SourcePage {
  readonly url: string
  readonly id: string
}

/** Maximum size of a page or sitemap, in bytes. */
const maxBytes = 20 * 2 ** 20
/** Maximum number of sitemaps per URL, and of pages: the sitemap protocol's limits for one file. */
const maxSitemaps = 500
const maxPages = 50_000

/** Fetches pages of the hosts that the operator specified, including private ones. */
export function createPageFetch(urls: readonly string[]): Egress {
  return egress({ allowHosts: urls.map((url) => new URL(url).host), maxBytes, timeoutMs: 60_000 })
}

/**
 * The page at a URL, or all pages on the same host in a sitemap, by URL.
 * @throws an error if the URL or a sitemap cannot be fetched
 */
export async function findPages(fetch: Egress, address: string, signal: AbortSignal): Promise<SourcePage[]> {
  const { host } = new URL(address)
  const pages = new Map<string, SourcePage>()
  const sitemaps = [address]
  for (let at = 0; at < Math.min(sitemaps.length, maxSitemaps); at++) {
    const isGiven = at === 0
    if (isGiven && !/\.xml(?:\.gz)?$/i.test(new URL(address).pathname)) return [toPage(address)]
    const text = await fetchSitemap(fetch, sitemaps[at]!, signal)
    const isIndex = /<sitemapindex[\s>]/i.test(text)
    if (isGiven && !isIndex && !/<urlset[\s>]/i.test(text)) return [toPage(address)]
    for (const [, location = ''] of text.matchAll(/<loc>\s*([^<]*?)\s*<\/loc>/gi)) {
      const url = URL.parse(location.replaceAll('&amp;', '&'))
      if (url === null || url.host !== host) continue
      if (isIndex) sitemaps.push(url.href)
      else if (pages.size < maxPages) pages.set(url.href, toPage(url.href))
    }
  }
  return [...pages.values()]
}

/** Names the sitemap in its error: one that is listed in another was not given by the user. */
async function fetchSitemap(fetch: Egress, url: string, signal: AbortSignal): Promise<string> {
  try {
    return new TextDecoder().decode((await fetchPage(fetch, url, signal)).bytes)
  } catch (error) {
    if (!isInlayError(error)) throw error
    throw new InlayError(error.code, { message: `${url}: ${error.message}`, cause: error })
  }
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
