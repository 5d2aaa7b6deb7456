import type { PageReader, ReadPage } from '@inlay/agent'
import { pageReaderConformance, type SamplePage, type SiteMood } from '@inlay/conformance'
import { egress } from '@inlay/drivers/egress'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { pageReader } from '@inlay/drivers/page-reader'
import { InlayError, type ErrorCode } from '@inlay/protocol'
import { afterAll, describe, test } from 'vitest'
import { testMutants } from '../../mutants.ts'
import { startSite, type SitePage } from '../../stand-in/web-site.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const escaped = (text: string): string => text.replace(/[&<]/g, (sign) => `&#${sign.charCodeAt(0)};`)

function htmlOf({ title, paragraphs, publishedAt }: SamplePage): string {
  const date =
    publishedAt === undefined
      ? ''
      : `<meta property="article:published_time" content="${new Date(publishedAt).toISOString()}">`
  const body = paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('')
  return `<!doctype html><html><head><title>${escaped(title)}</title>${date}</head><body><main>${body}</main></body></html>`
}

const answers: Readonly<Record<Exclude<SiteMood, 'well'>, SitePage>> = {
  missing: { status: 404, body: 'not here' },
  closed: { status: 401, body: 'who are you' },
  busy: { status: 429, body: 'slow down' },
  failing: { status: 500, body: 'at run (/srv/site.js:1:2)' },
  blank: { body: '<html><body> </body></html>' },
  silent: { hangs: true },
}

describe('pageReader', () => {
  const tests = pageReaderConformance(async ({ mood, pages }) => {
    const paths = pages.map((_, at) => `/page-${at}`)
    const answer = (page: SamplePage): SitePage => (mood === 'well' ? { body: htmlOf(page) } : answers[mood])
    const site = await startSite(Object.fromEntries(pages.map((page, at) => [paths[at], answer(page)])))
    const other = await startSite({ '/': { body: '<p>A secret of this machine.</p>' } })
    const port = new URL(other.origin).port
    return {
      read: pageReader({
        egress: egress({ allowHosts: [site.host] }),
        extract,
        timeoutMs: mood === 'silent' ? 50 : undefined,
      }),
      urls: paths.map((path) => site.origin + path),
      forbidden: ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'user:pass@127.0.0.1'].map(
        (host) => `http://${host}:${port}/`,
      ),
      close: async () => {
        await Promise.all([site.close(), other.close()])
      },
    }
  })
  for (const [title, run] of tests) test(title, run)
})

interface Site {
  readonly mood: SiteMood
  readonly pages: readonly SamplePage[]
}

const codes: Readonly<Record<Exclude<SiteMood, 'well'>, readonly [ErrorCode, boolean]>> = {
  missing: ['NOT_FOUND', false],
  closed: ['AUTH_ERROR', false],
  busy: ['RATE_LIMIT', true],
  failing: ['BAD_GATEWAY', true],
  blank: ['INVALID_INPUT', false],
  silent: ['GATEWAY_TIMEOUT', true],
}
const refusal = (mood: Exclude<SiteMood, 'well'>): InlayError =>
  new InlayError(codes[mood][0], { message: 'The page cannot be read.', retryable: codes[mood][1] })
const origin = 'https://site.example'
const forbidden = ['https://127.0.0.1/', 'https://intranet/']

/** Reads pages of a site in memory; a silent one is given up once the event loop has turned. */
const reading =
  ({ mood, pages }: Site): PageReader =>
  async (url, { signal } = {}) => {
    signal?.throwIfAborted()
    if (!url.startsWith(`${origin}/`)) throw new InlayError('BAD_REQUEST', { message: 'This address may not be read.' })
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    await Promise.race([stopped, new Promise(setImmediate)])
    if (mood !== 'well') throw refusal(mood)
    const { title, paragraphs, publishedAt } = pages[Number(new URL(url).pathname.slice(1))]!
    return {
      url,
      title,
      text: paragraphs.join('\n\n'),
      ...(publishedAt === undefined ? {} : { updatedAt: publishedAt }),
    }
  }
type Make = (site: Site) => PageReader
const giving =
  (change: (page: ReadPage) => Partial<ReadPage>): Make =>
  (site) =>
  async (url, options) => {
    const page = await reading(site)(url, options)
    return { ...page, ...change(page) }
  }
const failing =
  (moods: readonly SiteMood[], change: (error: unknown) => unknown): Make =>
  (site) =>
  async (url, options) =>
    reading(site)(url, options).catch((error: unknown) => {
      throw moods.includes(site.mood) && !options?.signal?.aborted ? change(error) : error
    })
let shared = ''
let bySite: ReadPage | undefined
let pageBefore: ReadPage | undefined
const samePage = {} as ReadPage

testMutants<Make>(
  'page reader',
  (make) =>
    pageReaderConformance(
      (site) => ({ read: make(site), urls: site.pages.map((_, at) => `${origin}/${at}`), forbidden }),
      { patienceMs: 50 },
    ),
  {
    sound: reading,
    mutants: {
      'has no title': giving(() => ({ title: '' })),
      'reads bytes as Latin-1': giving(({ text }) => ({ text: Buffer.from(text).toString('latin1') })),
      'leaves entities as they are': giving(({ text }) => ({ text: text.replaceAll('&', '&amp;') })),
      'drops what looks like a tag': giving(({ text }) => ({ text: text.replaceAll(/<[^>]*/g, '') })),
      'gives the first paragraph alone': giving(({ text }) => ({ text: text.split('\n\n')[0] ?? '' })),
      'gives paragraphs backwards': giving(({ text }) => ({ text: text.split('\n\n').toReversed().join('\n\n') })),
      'cuts pairs of surrogates': giving(({ text }) => ({ text: `${text}\uD83E` })),
      'says a path for an address': giving(({ url }) => ({ url: new URL(url).pathname })),
      'says the site for the page': giving(({ url }) => ({ url: new URL(url).origin })),
      'gives dates in seconds': giving(({ updatedAt }) =>
        updatedAt === undefined ? {} : { updatedAt: updatedAt / 1_000 },
      ),
      'takes now for a date': giving(() => ({ updatedAt: Date.now() })),
      'mixes pages up': (site) => async (url, options) => {
        shared = url
        await Promise.resolve()
        return reading(site)(shared, options)
      },
      'remembers pages by their site': (site) => async (url, options) => (bySite ??= await reading(site)(url, options)),
      'gives the page before': (site) => async (url, options) => {
        const page = await reading(site)(url, options)
        const before = pageBefore ?? page
        pageBefore = page
        return before
      },
      'writes pages into the same object': (site) => async (url, options) =>
        Object.assign(samePage, await reading(site)(url, options)),
      'gives the error page of a site': (site) => (url, options) =>
        reading(site.mood === 'missing' ? { ...site, mood: 'well' } : site)(url, options),
      'gives a blank page': (site) => (url, options) =>
        site.mood === 'blank' ? Promise.resolve({ url, title: '', text: '' }) : reading(site)(url, options),
      'throws a bare string': failing(['closed'], () => '401 Unauthorized'),
      'throws what fetch throws': failing(['failing'], () => new TypeError('fetch failed')),
      'blames itself': failing(['busy'], () => new InlayError('INTERNAL_ERROR')),
      'shows a stack': failing(
        ['failing'],
        () => new InlayError('BAD_GATEWAY', { message: 'Bad page\n    at run (/a.ts:1:2)' }),
      ),
      'has a missing page read again': failing(
        ['missing'],
        () => new InlayError('BAD_GATEWAY', { message: 'Bad page.', retryable: true }),
      ),
      'gives a busy site up': failing(
        ['busy'],
        () => new InlayError('RATE_LIMIT', { message: 'Too many.', retryable: false }),
      ),
      'waits for a silent site for ever': (site) => (url, options) =>
        site.mood === 'silent' ? new Promise(() => {}) : reading(site)(url, options),
      'opens whatever it is given': (site) => (url, options) =>
        reading(site)(url.startsWith('http') ? url : `${origin}/0`, options),
      'opens addresses of this machine': (site) => (url, options) =>
        reading(site)(forbidden.includes(url) ? `${origin}/0` : url, options),
      'looks at its signal only before it reads': (site) => async (url, options) => {
        options?.signal?.throwIfAborted()
        return reading(site)(url)
      },
      'throws an error of its own when stopped': (site) => async (url, options) =>
        reading(site)(url, options).catch((error: unknown) => {
          throw options?.signal?.aborted ? new Error('aborted') : error
        }),
    },
  },
)
