import { isInlayError } from '@inlay/protocol'
import {
  must,
  mustAbort,
  mustEqual,
  mustSettle,
  rejectionOf,
  toTests,
  withClosing,
  type Checks,
  type ConformanceTest,
} from '../contract.ts'
import type { PageReader, ReadPage } from '@inlay/agent'

/**
 * Behaviour of a site during a test. `well`: it returns its pages; `missing`: 404; `closed`: it requires sign-in (401);
 * `busy`: it limits requests (429); `failing`: 500; `blank`: its pages have no text; `silent`: it accepts the request
 * but never responds.
 */
export type SiteMood = 'well' | 'missing' | 'closed' | 'busy' | 'failing' | 'blank' | 'silent'

export interface SamplePage {
  readonly title: string
  readonly paragraphs: readonly string[]
  /** Milliseconds since 1970 UTC. */
  readonly publishedAt?: number
}

/** A page reader to test, and the URLs of the site. */
export interface PageReaderUnderTest {
  readonly read: PageReader
  /** URLs of the pages, in order. */
  readonly urls: readonly string[]
  /** URLs that respond but must not be readable: of this machine, or of a private network. */
  readonly forbidden?: readonly string[]
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/**
 * Returns the reader to test, connected to a test server for the site or for the service that reads pages. It should
 * time out soon on a silent site.
 */
export type MakePageReader = (site: {
  readonly mood: SiteMood
  readonly pages: readonly SamplePage[]
}) => PageReaderUnderTest | Promise<PageReaderUnderTest>

const dayMs = 86_400_000
const pages: readonly SamplePage[] = [
  {
    title: 'Herons of the delta',
    paragraphs: ['They nest in April & wait in the reeds.', 'Größer als 3 < 4 Enten; 図書館 🦩.'],
    publishedAt: Date.UTC(2026, 1, 3),
  },
  { title: 'Otters', paragraphs: ['Otters swim in the old mill pond.'] },
]

/**
 * Requirements of every `PageReader`, as a list for any test runner.
 * @param options `patienceMs`: maximum wait for a silent site or an aborted call, in milliseconds; default 10 000
 * @example for (const [title, run] of pageReaderConformance(make)) test(title, run)
 */
export function pageReaderConformance(
  make: MakePageReader,
  { patienceMs = 10_000 }: { readonly patienceMs?: number } = {},
): ConformanceTest[] {
  const withReader: WithReader = (mood, check) =>
    withClosing(
      () => make({ mood, pages }),
      async (reader) => {
        mustEqual(reader.urls.length, pages.length, 'addresses')
        await check(reader)
      },
    )
  return [
    ...toTests(checks, (check) => withReader('well', check)),
    ...refusals.map((refusal) => refusalTest(withReader, refusal, patienceMs)),
    ...(['well', 'silent'] as const).map((mood): ConformanceTest => [
      `an aborted call to a site that is ${mood} rejects with the reason`,
      () => withReader(mood, ({ read, urls }) => mustAbort((signal) => read(urls[0]!, { signal }), { patienceMs })),
    ]),
  ]
}

type WithReader = (mood: SiteMood, check: (reader: PageReaderUnderTest) => Promise<void>) => Promise<void>

const checks: Checks<PageReaderUnderTest> = {
  async 'a page is read with its title, and its text in order'({ read, urls }) {
    for (const [at, url] of urls.entries()) mustBePage(await read(url), pages[at]!)
  },
  async 'it says where the page was in the end'({ read, urls }) {
    for (const url of urls) {
      const final = URL.parse((await read(url)).url)
      must(final !== null && /^https?:$/.test(final.protocol), 'a whole address')
      mustEqual(final.pathname, new URL(url).pathname, 'where a page is that was not moved')
    }
  },
  async 'a date is that of the page, in milliseconds, or there is none'({ read, urls }) {
    for (const [at, url] of urls.entries()) {
      const { updatedAt } = await read(url)
      const { publishedAt } = pages[at]!
      if (updatedAt === undefined) continue
      must(publishedAt !== undefined, 'a page without a date has none')
      must(Math.abs(updatedAt - publishedAt) <= dayMs, 'the date is the day it was published')
    }
  },
  async 'pages read side by side do not mix'({ read, urls }) {
    const order = urls.flatMap((_, at) => [at, at]).toReversed()
    const results = await Promise.all(order.map((at) => read(urls[at]!)))
    for (const [place, at] of order.entries()) mustBePage(results[place]!, pages[at]!)
  },
  async 'what is no address of the web is refused'({ read }) {
    for (const url of ['', 'nowhere', '/herons', 'javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,Hello'])
      mustRefuse(await rejectionOf(read(url)), url)
  },
  async 'addresses that are forbidden are refused, however they are spelt'({ read, forbidden = [] }) {
    for (const url of forbidden) mustRefuse(await rejectionOf(read(url)), url)
  },
}

function mustBePage({ title, text }: ReadPage, page: SamplePage): void {
  mustEqual(title.trim(), page.title, 'title')
  must(typeof text === 'string' && text.isWellFormed(), 'the text can be sent')
  // Characters may be escaped as in Markdown.
  const plain = (value: string): string => value.replaceAll(/[\\\s]+/g, ' ')
  let from = 0
  for (const paragraph of page.paragraphs) {
    const at = plain(text).indexOf(plain(paragraph), from)
    must(at >= 0, `"${paragraph}" is in its place`)
    from = at + 1
  }
}

/** Allowed errors for each behaviour of a site, and whether they are retryable. */
const refusals: readonly (readonly [mood: SiteMood, retryable: boolean | undefined])[] = [
  ['missing', false],
  ['closed', false],
  ['busy', true],
  ['failing', true],
  ['blank', false],
  ['silent', undefined],
]

function refusalTest(
  withReader: WithReader,
  [mood, retryable]: (typeof refusals)[number],
  patienceMs: number,
): ConformanceTest {
  const check = async ({ read, urls }: PageReaderUnderTest): Promise<void> => {
    const call = rejectionOf(read(urls[0]!))
    await mustSettle(call, patienceMs, 'the call')
    const error = await call
    mustRefuse(error, 'a page that cannot be read')
    must(retryable === undefined || (isInlayError(error) && error.retryable === retryable), `retryable: ${retryable}`)
  }
  return [`a site that is ${mood} is an InlayError that says why`, () => withReader(mood, check)]
}

function mustRefuse(error: unknown, statement: string): void {
  must(isInlayError(error), `${statement}: it rejects with an InlayError`)
  must(error.code !== 'INTERNAL_ERROR', `${statement}: it does not blame itself`)
  // oxlint-disable-next-line regexp/no-super-linear-move -- the message of one error
  must(/\p{L}{2}.* \p{L}{2}/su.test(error.message), `${statement}: the message says why`)
  must(!/\n[^\S\n]+at .+:\d+/.test(error.message), `${statement}: the message holds no stack`)
}
