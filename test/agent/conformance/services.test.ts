import type { ImageGenerator, WebSearch } from '@inlay/agent'
import {
  imageGeneratorConformance,
  webSearchConformance,
  type ImageServiceMood,
  type SearchServiceMood,
} from '@inlay/conformance'
import { InlayError, type ErrorCode } from '@inlay/protocol'
import { testMutants } from '../../mutants.ts'

type Failure = readonly [code: ErrorCode, retryable: boolean, data?: Readonly<Record<string, number>>]
type Mood = Exclude<SearchServiceMood['mood'] | ImageServiceMood, 'well'>

const failures: Readonly<Record<Mood, Failure>> = {
  policy: ['CONTENT_POLICY', false],
  'bad key': ['AUTH_ERROR', false],
  'no access': ['PERMISSION_DENIED', false],
  busy: ['RATE_LIMIT', true, { retryAfterSeconds: 7 }],
  failing: ['API_ERROR', true],
  garbled: ['BAD_GATEWAY', true],
  other: ['BAD_GATEWAY', true],
  silent: ['GATEWAY_TIMEOUT', true],
}
function failureOf(mood: Mood, [code, retryable, data = {}]: Failure = failures[mood]): InlayError {
  return new InlayError(code, { message: 'The service failed.', retryable, data })
}

/** Rejects with the reason once the signal aborts; a service takes a turn of the event loop. */
async function ask(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  await Promise.race([stopped, new Promise(setImmediate)])
}

interface SearchMistake {
  readonly query?: (text: string) => string
  readonly pages?: (pages: SearchServiceMood['pages'], limit: number) => SearchServiceMood['pages']
  readonly failure?: (mood: Mood) => unknown
  readonly signal?: (signal: AbortSignal | undefined) => AbortSignal | undefined
}

const isWeb = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? '')
const soundPages = (pages: SearchServiceMood['pages'], limit: number): SearchServiceMood['pages'] =>
  pages.filter(({ url }, at) => isWeb(url) && pages.findIndex((page) => page.url === url) === at).slice(0, limit)

function searches(mistake: SearchMistake): Parameters<typeof webSearchConformance>[0] {
  const {
    query = (text) => text,
    pages: shown = soundPages,
    failure = failureOf,
    signal: heed = (given) => given,
  } = mistake
  return ({ pages, mood }) => {
    const queries: string[] = []
    const search: WebSearch = async ({ text, limit, signal }) => {
      await ask(heed(signal))
      queries.push(query(text))
      const error = mood === 'well' ? undefined : failure(mood)
      if (error !== undefined) throw error
      return mood === 'well' ? shown(pages, limit) : []
    }
    return { search, queries }
  }
}
const pagesChanged =
  (change: (page: SearchServiceMood['pages'][number]) => SearchServiceMood['pages'][number]): SearchMistake['pages'] =>
  (pages, limit) =>
    soundPages(pages, limit).map(change)
const codeOf =
  (wrong: Mood, failure: Failure) =>
  (mood: Mood): InlayError =>
    failureOf(mood, mood === wrong ? failure : undefined)

let firstPages: SearchServiceMood['pages'] | undefined

testMutants<SearchMistake>('web search', (mistake) => webSearchConformance(searches(mistake)), {
  sound: {},
  mutants: {
    'sorts pages by title': {
      pages: (pages, limit) => soundPages(pages, limit).toSorted((a, b) => a.title.localeCompare(b.title)),
    },
    'leaves entities in': {
      pages: pagesChanged((page) => ({ ...page, snippet: page.snippet.replaceAll('&', '&amp;') })),
    },
    'cuts addresses at the fragment': { pages: pagesChanged((page) => ({ ...page, url: page.url.split('#')[0]! })) },
    'gives dates in seconds': {
      pages: pagesChanged((page) => (page.publishedAt ? { ...page, publishedAt: page.publishedAt / 1_000 } : page)),
    },
    'takes now for a date': { pages: pagesChanged((page) => ({ ...page, publishedAt: 1_762_000_000_000 })) },
    'encodes a query twice': { query: encodeURIComponent },
    'trims signs off a query': { query: (text) => text.replaceAll(/[^\p{L}\p{N} ]/gu, '') },
    'knows no limit': { pages: (pages) => soundPages(pages, 99) },
    'gives one page more': { pages: (pages, limit) => soundPages(pages, limit + 1) },
    'gives a page twice': { pages: (pages, limit) => pages.filter(({ url }) => isWeb(url)).slice(0, limit) },
    'limits before it filters': { pages: (pages, limit) => soundPages(pages.slice(0, limit), limit) },
    'gives addresses of any kind': { pages: (pages, limit) => pages.slice(0, limit) },
    'takes a failure for nothing found': { failure: () => undefined },
    'throws a bare string': { failure: () => 'HTTP 500' },
    'throws what fetch throws': { failure: () => new TypeError('fetch failed') },
    'repeats the query in its failure': {
      failure: () => new InlayError('API_ERROR', { message: 'No a secret query' }),
    },
    'tries a bad key again': { failure: codeOf('bad key', ['AUTH_ERROR', true]) },
    'tells a limit without a time': { failure: codeOf('busy', ['RATE_LIMIT', true]) },
    'tells the time in milliseconds': { failure: codeOf('busy', ['RATE_LIMIT', true, { retryAfterSeconds: 7_000 }]) },
    'gives a broken service up': { failure: codeOf('failing', ['API_ERROR', false]) },
    'takes silence for a broken service': { failure: codeOf('silent', ['API_ERROR', true]) },
    'ignores its signal': { signal: () => undefined },
    'takes addresses that differ in their query for one': {
      pages: (pages, limit) => {
        const path = (url: string): string => url.split('?')[0]!
        return soundPages(
          pages.filter(({ url }, at) => pages.findIndex((page) => path(page.url) === path(url)) === at),
          limit,
        )
      },
    },
    'gives the pages of its first query for ever': {
      pages: (pages, limit) => soundPages((firstPages ??= pages), limit),
    },
    'mixes queries up': { query: (text) => (text.startsWith('query') ? 'query 0' : text) },
    'gives a page less': { pages: (pages, limit) => soundPages(pages, limit - 1) },
    'gives pages without a title their address': {
      pages: pagesChanged((page) => ({ ...page, title: page.title || page.url })),
    },
    'throws an error of its own when stopped': {
      signal: (signal) =>
        signal && AbortSignal.any([signal.aborted ? AbortSignal.abort(new Error('aborted')) : signal]),
    },
  },
})

interface ImageMistake {
  readonly bytes?: (png: Uint8Array) => Uint8Array
  readonly mediaType?: string
  readonly prompt?: (prompt: string) => string
  readonly sizes?: Readonly<Record<string, readonly [width: number, height: number]>>
  readonly onReferences?: () => unknown
  readonly sendsReferences?: boolean | number
  readonly keepsShape?: boolean
  readonly failure?: (mood: Mood) => unknown
  readonly signal?: (signal: AbortSignal | undefined) => AbortSignal | undefined
}

const soundSizes = { square: [1_024, 1_024], portrait: [1_024, 1_536], landscape: [1_536, 1_024] } as const

function generators(mistake: ImageMistake): Parameters<typeof imageGeneratorConformance>[0] {
  const { bytes = (png) => png, mediaType = 'image/png', prompt: sent = (text) => text } = mistake
  const { sizes = soundSizes, failure = failureOf, signal: heed = (given) => given } = mistake
  const { onReferences = () => new InlayError('UNSUPPORTED', { message: 'No references.' }) } = mistake
  return ({ mood, png }) => {
    const requests: { prompt: string; width: number; height: number; references: number }[] = []
    let firstShape: keyof typeof soundSizes | undefined
    const generate: ImageGenerator = async ({ prompt, shape, references, signal }) => {
      const refusal = references.length > 0 ? onReferences() : undefined
      if (refusal !== undefined) throw refusal
      await ask(heed(signal))
      const error = mood === 'well' ? undefined : failure(mood)
      if (error !== undefined) throw error
      if (references.length === 0 || mistake.sendsReferences !== undefined) {
        firstShape ??= shape
        const [width = 0, height = 0] = sizes[mistake.keepsShape ? firstShape : shape] ?? []
        requests.push({ prompt: sent(prompt), width, height, references: Number(mistake.sendsReferences ?? 0) })
      }
      return [{ bytes: bytes(png), mediaType }]
    }
    return { generate, requests: () => requests }
  }
}

let firstPicture: Uint8Array | undefined
let pictureBefore: Uint8Array | undefined
let firstPrompt: string | undefined

testMutants<ImageMistake>('image generator', (mistake) => imageGeneratorConformance(generators(mistake)), {
  sound: {},
  mutants: {
    'cuts pictures': { bytes: (png) => png.slice(0, -4) },
    'gives base64 for bytes': { bytes: (png) => new TextEncoder().encode(Buffer.from(png).toString('base64')) },
    'names another media type': { mediaType: 'image/jpeg' },
    'cuts a prompt at its first line': { prompt: (text) => text.split('\n')[0]! },
    'writes entities into a prompt': { prompt: (text) => text.replaceAll('"', '&quot;') },
    'draws squares alone': { sizes: { square: [1, 1], portrait: [1, 1], landscape: [1, 1] } },
    'turns shapes round': { sizes: { ...soundSizes, portrait: soundSizes.landscape, landscape: soundSizes.portrait } },
    'leaves references out in silence': { onReferences: () => undefined },
    'blames itself for references': { onReferences: () => new InlayError('INTERNAL_ERROR') },
    'takes a policy for a failure': { failure: codeOf('policy', ['API_ERROR', false]) },
    'gives no picture when it fails': { failure: () => undefined },
    'throws a bare string': { failure: () => '401' },
    'throws what fetch throws': { failure: () => new TypeError('fetch failed') },
    'repeats the prompt in its failure': {
      failure: (mood) => new InlayError(failures[mood][0], { message: 'No a secret prompt' }),
    },
    'takes a limit for a failure': { failure: codeOf('busy', ['API_ERROR', true]) },
    'takes a script for a picture': { failure: (mood) => (mood === 'other' ? undefined : failureOf(mood)) },
    'takes silence for a broken service': { failure: codeOf('silent', ['API_ERROR', true]) },
    'ignores its signal': { signal: () => undefined },
    'draws the first picture for ever': { bytes: (png) => (firstPicture ??= png) },
    'gives the picture before': {
      bytes: (png) => {
        const before = pictureBefore ?? png
        pictureBefore = png
        return before
      },
    },
    'mixes prompts up': { prompt: (text) => (text.startsWith('picture') ? 'picture 0' : text) },
    'sends the first prompt again': { prompt: (text) => (firstPrompt ??= text) },
    'keeps a shape until it is restarted': { keepsShape: true },
    'sends no reference along': { onReferences: () => undefined, sendsReferences: false },
    'sends the first reference alone': { onReferences: () => undefined, sendsReferences: 1 },
    'looks at its signal only once': { signal: (signal) => (signal?.aborted ? signal : undefined) },
  },
})
