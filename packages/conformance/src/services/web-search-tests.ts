import { isInlayError } from '@inlay/protocol'
import type { WebResult, WebSearch } from '@inlay/agent'
import {
  must,
  mustAbort,
  mustEqual,
  mustReject,
  rejectionOf,
  toTests,
  type Checks,
  type ConformanceTest,
} from '../contract.ts'

/** Behaviour of a search service during a test. */
export interface SearchServiceMood {
  /** Results it returns for any query, best first. */
  readonly pages: readonly WebResult[]
  /**
   * `well`: it responds; `bad key`, `no access`: it refuses the key; `busy`: it limits requests and asks to retry after
   * 7 seconds; `failing`: it fails; `garbled`: it does not send JSON; `other`: it sends JSON of another shape;
   * `silent`: it accepts the request but never responds.
   */
  readonly mood: 'well' | 'bad key' | 'no access' | 'busy' | 'failing' | 'garbled' | 'other' | 'silent'
}

/** A search to test, and the queries that its service received. */
export interface WebSearchUnderTest {
  readonly search: WebSearch
  readonly queries: readonly string[]
}

/**
 * Returns the search to test, connected to a test server with the given behaviour. The search should time out soon on a
 * silent service, and need not wait between attempts.
 */
export type MakeWebSearch = (service: SearchServiceMood) => WebSearchUnderTest | Promise<WebSearchUnderTest>

const dayMs = 86_400_000
const published = Date.UTC(2026, 1, 3)

const pages: readonly WebResult[] = [
  { title: 'Herons of the delta', url: 'https://birds.example/herons?place=delta&n=2#top', snippet: 'Grey & white.' },
  { title: '„Reiher“ im Schilf 🦩', url: 'http://voegel.example/reiher', snippet: 'Größer als 3 < 4 Enten.' },
  { title: '', url: 'https://plain.example/', snippet: '', publishedAt: published },
]

/**
 * Requirements of every `WebSearch`, as a list for any test runner.
 * @example for (const [title, run] of webSearchConformance(make)) test(title, run)
 */
export function webSearchConformance(make: MakeWebSearch): ConformanceTest[] {
  return [
    ...toTests(checks, async (check) => check(await make({ pages, mood: 'well' }))),
    ...toTests({ ...listChecks, ...failureChecks }, (check) => check(make)),
  ]
}

const checks: Checks<WebSearchUnderTest> = {
  async 'pages come in the order of the service, with title, address and snippet as plain text'({ search }) {
    const results = await search({ text: 'herons', limit: 10 })
    mustEqual(results.map(plain), pages.map(plain), 'pages')
  },
  async 'a date is that of the page, or there is none'({ search }) {
    for (const { url, publishedAt } of await search({ text: 'herons', limit: 10 })) {
      if (publishedAt === undefined) continue
      must(url === 'https://plain.example/', 'only a page with a date has one')
      must(Math.abs(publishedAt - published) <= dayMs, 'the date is the day it was published')
    }
  },
  async 'a query reaches the service as it was asked'({ search, queries }) {
    const texts = ['C++ & "naïve" #1 50%+?', '図書館 🦀', "it's a=b;c"]
    for (const text of texts) await search({ text, limit: 3 })
    mustEqual(queries, texts, 'queries')
  },
  async 'calls side by side each get their own answer'({ search, queries }) {
    const texts = Array.from({ length: 5 }, (_, at) => `query ${at}`)
    const results = await Promise.all(texts.map((text) => search({ text, limit: 10 })))
    mustEqual(queries.toSorted(), texts, 'queries')
    for (const list of results) mustEqual(list.length, pages.length, 'pages')
  },
  async 'an aborted call rejects with the reason, before it began and while it waits'({ search }) {
    await mustAbort((signal) => search({ text: 'x', limit: 5, signal }))
  },
  async 'a call that fails leaves the next one whole'({ search }) {
    await mustReject(() => search({ text: 'x', limit: 5, signal: AbortSignal.abort() }), undefined, 'aborted')
    mustEqual((await search({ text: 'x', limit: 5 })).length, pages.length, 'pages')
  },
}

function plain({ title, url, snippet }: WebResult): readonly string[] {
  return [title, url, snippet]
}

const numbered = Array.from({ length: 12 }, (_, at) => ({
  title: `${at}`,
  url: `https://a.example/${at}`,
  snippet: '',
}))

async function urlsFor(make: MakeWebSearch, service: readonly WebResult[], limit: number): Promise<string[]> {
  const { search } = await make({ pages: service, mood: 'well' })
  return (await search({ text: 'x', limit })).map(({ url }) => url)
}

const listChecks: Checks<MakeWebSearch> = {
  async 'nothing found is an empty list'(make) {
    mustEqual(await urlsFor(make, [], 5), [], 'pages')
  },
  async 'no more than the limit come, also when the service sends more'(make) {
    for (const limit of [1, 4]) {
      const first = numbered.slice(0, limit).map(({ url }) => url)
      mustEqual(await urlsFor(make, numbered, limit), first, 'pages')
    }
  },
  async 'each address comes once'(make) {
    const [first, second, third, fourth] = numbered as [WebResult, WebResult, WebResult, WebResult]
    const other = { ...first, url: `${first.url}?page=2` }
    const repeated = [first, second, third, first, second, other, third, fourth, other]
    const expected = [first, second, third, other, fourth].map(({ url }) => url)
    mustEqual(await urlsFor(make, repeated, 10), expected, 'pages')
  },
  async 'addresses other than http and https are left out'(make) {
    const others = ['javascript:alert(1)', 'file:///etc/passwd', 'ftp://a.example/', '/relative', '', 'http://'].map(
      (url) => ({ title: 'x', url, snippet: '' }),
    )
    mustEqual(
      await urlsFor(make, [...others, ...numbered.slice(0, 2)], 2),
      numbered.slice(0, 2).map(({ url }) => url),
      'pages',
    )
  },
}

const moods = ['bad key', 'no access', 'busy', 'failing', 'garbled', 'other', 'silent'] as const

async function failure(make: MakeWebSearch, mood: SearchServiceMood['mood']): Promise<unknown> {
  const { search } = await make({ pages, mood })
  return rejectionOf(search({ text: 'a secret query', limit: 5 }))
}

const failureChecks: Checks<MakeWebSearch> = {
  async 'a service that fails is told in words of our own, never as an empty list'(make) {
    for (const mood of moods) {
      const error = await failure(make, mood)
      must(isInlayError(error), `${mood}: the call rejects with an InlayError`)
      must(!error.message.includes('secret'), `${mood}: the message does not repeat the query`)
    }
  },
  async 'a key that is refused is not tried again'(make) {
    for (const mood of ['bad key', 'no access'] as const) {
      const error = await failure(make, mood)
      must(isInlayError(error) && !error.retryable, mood)
      must(error.code === 'AUTH_ERROR' || error.code === 'PERMISSION_DENIED', `${mood}: ${error.code}`)
    }
  },
  async 'a limit of requests says how long to wait'(make) {
    const error = await failure(make, 'busy')
    must(isInlayError(error) && error.code === 'RATE_LIMIT' && error.retryable, 'RATE_LIMIT')
    mustEqual(error.data['retryAfterSeconds'], 7, 'seconds')
  },
  async 'a service that breaks or is silent may be tried later, one that sends something else may not be trusted'(
    make,
  ) {
    const [broken, silent] = [await failure(make, 'failing'), await failure(make, 'silent')]
    must(isInlayError(broken) && broken.retryable, 'failing')
    must(isInlayError(silent) && silent.code === 'GATEWAY_TIMEOUT', 'silent')
    for (const mood of ['garbled', 'other'] as const) {
      const error = await failure(make, mood)
      must(isInlayError(error) && error.code === 'BAD_GATEWAY', mood)
    }
  },
}
