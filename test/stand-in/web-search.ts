import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebResult } from '@inlay/agent'
import type { SearchServiceMood } from '@inlay/conformance'
import { listen, send } from './loopback.ts'

/** The services that can be stood in for. */
export const searchServices = ['brave', 'exa', 'searxng', 'serper', 'tavily'] as const

/** One of them. */
export type SearchServiceName = (typeof searchServices)[number]

/** A reply by hand. */
export interface SearchReply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A received request. */
export interface SearchRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parameters of the address, or the JSON of the body. */
  readonly values: Readonly<Record<string, unknown>>
}

/** A local server that speaks as one search service does. */
export interface SearchStandIn {
  readonly baseUrl: string
  readonly seen: readonly SearchRequest[]
  /** Queries as the service understood them. */
  readonly queries: readonly string[]
  close(): Promise<void>
}

/** How a service is asked, and how it speaks. */
interface Speech {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly key: (headers: SearchRequest['headers']) => unknown
  readonly query: string
  /** Parameters the service knows; another one is refused. */
  readonly fields: readonly string[]
  readonly answer: (pages: readonly WebResult[], query: string) => unknown
  /** Status and body for a key that it does not take. */
  readonly badKey: readonly [status: number, body: unknown]
}

const iso = (ms: number): string => new Date(ms).toISOString()
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const speeches: Readonly<Record<SearchServiceName, Speech>> = {
  brave: {
    method: 'GET',
    path: '/web/search',
    key: (headers) => headers['x-subscription-token'],
    query: 'q',
    fields: ['q', 'count', 'offset', 'result_filter', 'text_decorations', 'country', 'search_lang', 'freshness'],
    badKey: [
      422,
      {
        type: 'ErrorResponse',
        error: {
          id: 'b1',
          status: 422,
          code: 'SUBSCRIPTION_TOKEN_INVALID',
          detail: 'The provided subscription token is invalid.',
          meta: { component: 'authentication' },
        },
        time: 1_762_000_000,
      },
    ],
    answer: (pages, query) => ({
      type: 'search',
      query: { original: query, more_results_available: pages.length > 0 },
      ...(pages.length === 0
        ? {}
        : {
            web: {
              type: 'search',
              family_friendly: true,
              results: pages.map(({ title, url, snippet, publishedAt }) => ({
                type: 'search_result',
                subtype: 'generic',
                title: escaped(title),
                url,
                description: `<strong>${escaped(snippet)}</strong>`,
                ...(publishedAt === undefined
                  ? {}
                  : { page_age: iso(publishedAt).slice(0, 19), age: 'February 3, 2026' }),
                meta_url: { scheme: 'https', netloc: 'x', hostname: 'x', favicon: '', path: '' },
                language: 'en',
              })),
            },
          }),
    }),
  },
  exa: {
    method: 'POST',
    path: '/search',
    key: (headers) => headers['x-api-key'],
    query: 'query',
    fields: ['query', 'numResults', 'type', 'contents', 'includeDomains', 'category'],
    badKey: [401, { requestId: 'e1', error: 'Invalid API key', tag: 'INVALID_API_KEY' }],
    answer: (pages) => ({
      requestId: 'b5947044c4b78efa9552a7c89b306d95',
      resolvedSearchType: 'neural',
      results: pages.map(({ title, url, snippet, publishedAt }) => ({
        id: url,
        title,
        url,
        publishedDate: publishedAt === undefined ? null : iso(publishedAt),
        author: null,
        ...(snippet === '' ? {} : { highlights: [snippet], highlightScores: [0.46] }),
      })),
      costDollars: { total: 0.005 },
    }),
  },
  searxng: {
    method: 'GET',
    path: '/search',
    key: (headers) => headers['authorization'],
    query: 'q',
    fields: ['q', 'format', 'language', 'categories', 'safesearch', 'time_range', 'pageno'],
    badKey: [401, {}],
    answer: (pages, query) => ({
      query,
      number_of_results: 0,
      results: pages.map(({ title, url, snippet, publishedAt }, at) => ({
        template: 'default.html',
        url,
        title,
        content: snippet,
        publishedDate: publishedAt === undefined ? null : iso(publishedAt).slice(0, 19),
        engine: 'mojeek',
        engines: ['mojeek'],
        parsed_url: ['https', 'x', '/', '', '', ''],
        positions: [at + 1],
        score: 1 / (at + 1),
        category: 'general',
      })),
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: [],
    }),
  },
  serper: {
    method: 'POST',
    path: '/search',
    key: (headers) => headers['x-api-key'],
    query: 'q',
    fields: ['q', 'num', 'gl', 'hl', 'page', 'tbs', 'location'],
    badKey: [403, { message: 'Unauthorized.', statusCode: 403 }],
    answer: (pages, query) => ({
      searchParameters: { q: query, type: 'search', engine: 'google' },
      organic: pages.map(({ title, url, snippet, publishedAt }, at) => ({
        title,
        link: url,
        ...(snippet === '' ? {} : { snippet }),
        ...(publishedAt === undefined ? {} : { date: 'Feb 3, 2026' }),
        position: at + 1,
      })),
      peopleAlsoAsk: [],
      credits: 1,
    }),
  },
  tavily: {
    method: 'POST',
    path: '/search',
    key: (headers) => headers['authorization'],
    query: 'query',
    fields: ['query', 'max_results', 'search_depth', 'topic', 'include_domains', 'country'],
    badKey: [401, { detail: { error: 'Unauthorized: missing or invalid API key.' } }],
    answer: (pages, query) => ({
      query,
      follow_up_questions: null,
      answer: null,
      images: [],
      results: pages.map(({ title, url, snippet, publishedAt }, at) => ({
        url,
        title,
        content: snippet,
        score: 0.9 - at / 100,
        raw_content: null,
        ...(publishedAt === undefined ? {} : { published_date: new Date(publishedAt).toUTCString() }),
      })),
      response_time: 1.09,
      request_id: 't1',
    }),
  },
}

/**
 * Starts a stand-in on a free port of the loopback.
 * @param options.key what the header of the key must hold; absent: anything goes
 * @param options.once a reply for the first request alone; those after it are answered as usual
 */
export async function startSearch(
  name: SearchServiceName,
  service: SearchServiceMood,
  options: { readonly key?: string; readonly once?: SearchReply } = {},
): Promise<SearchStandIn> {
  const speech = speeches[name]
  const seen: SearchRequest[] = []
  const queries: string[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requests = await toRequest(request)
    seen.push(requests)
    const { mood, pages } = service
    if (mood === 'silent') return
    if (options.once && seen.length === 1)
      return send(response, options.once.status, options.once.body ?? {}, options.once.headers)
    const hasKey = options.key === undefined || speech.key(requests.headers) === options.key
    if (mood === 'bad key' || !hasKey) return send(response, ...speech.badKey)
    if (mood === 'no access') return send(response, 403, { message: `no plan for ${JSON.stringify(requests.values)}` })
    if (mood === 'busy') return send(response, 429, { error: 'slow down' }, { 'retry-after': '7' })
    if (mood === 'failing') return send(response, 500, { error: `broken by ${JSON.stringify(requests.values)}` })
    if (mood === 'garbled') return void response.writeHead(200).end('<html>a secret query</html>')
    if (mood === 'other') return send(response, 200, ['a secret query'])
    const fault = faultOf(speech, requests)
    if (fault !== undefined) return send(response, 400, { error: fault })
    queries.push(String(requests.values[speech.query]))
    send(response, 200, speech.answer(pages, String(requests.values[speech.query])))
  }

  const { origin, close } = await listen(answer)
  return {
    baseUrl: origin,
    seen,
    queries,
    close,
  }
}

async function toRequest(request: IncomingMessage): Promise<SearchRequest> {
  const url = new URL(request.url ?? '/', 'http://stand-in')
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return {
    method: request.method ?? '',
    path: url.pathname,
    headers: request.headers,
    values: text === '' ? Object.fromEntries(url.searchParams) : JSON.parse(text),
  }
}

function faultOf(speech: Speech, { method, path, values, headers }: SearchRequest): string | undefined {
  if (method !== speech.method || path !== speech.path) return `no ${method} ${path}`
  if (method === 'POST' && headers['content-type'] !== 'application/json') return 'not JSON'
  for (const name of Object.keys(values)) if (!speech.fields.includes(name)) return `unknown field ${name}`
  return values[speech.query] ? undefined : 'no query'
}
