import { InlayError } from 'inlay'
import type { WebSearch } from 'inlay/agent'

interface Reply {
  readonly hits: readonly {
    readonly name: string
    readonly href: string
    readonly extract: string
    readonly day?: number
  }[]
}

/** Searches by a service of the company. `timeoutMs` bounds each call. */
export function companySearch(fetchJson: typeof fetch, timeoutMs = 5_000): WebSearch {
  return async ({ text, limit, signal }) => {
    const reply = (await askService(fetchJson, { text, limit }, timeoutMs, signal)) as Partial<Reply>
    if (!Array.isArray(reply.hits)) throw new InlayError('BAD_GATEWAY', { message: 'The search sent something else.' })
    const pages = new Map<string, Awaited<ReturnType<WebSearch>>[number]>()
    for (const { name, href, extract, day } of reply.hits)
      if (/^https?:$/.test(URL.parse(href)?.protocol ?? '') && !pages.has(href))
        pages.set(href, { title: name, url: href, snippet: extract, ...(day !== undefined && { publishedAt: day }) })
    return [...pages.values()].slice(0, limit)
  }
}

/** Calls a service, and says in words of our own what went wrong. */
export async function askService(
  fetchJson: typeof fetch,
  body: object,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  signal?.throwIfAborted()
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await fetchJson('https://service.example/', {
    method: 'POST',
    body: JSON.stringify(body),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch(() => {
    signal?.throwIfAborted()
    throw new InlayError('GATEWAY_TIMEOUT', { message: 'The service does not answer.', retryable: true })
  })
  const { status } = response
  if (status === 401) throw new InlayError('AUTH_ERROR', { message: 'The key was refused.', retryable: false })
  if (status === 403)
    throw new InlayError('PERMISSION_DENIED', { message: 'The key may not do this.', retryable: false })
  if (status === 422) throw new InlayError('CONTENT_POLICY', { message: 'The service does not allow this.' })
  if (status === 429) {
    const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 60)
    throw new InlayError('RATE_LIMIT', {
      message: 'The service is busy.',
      retryable: true,
      data: { retryAfterSeconds },
    })
  }
  if (!response.ok) throw new InlayError('API_ERROR', { message: 'The service failed.', retryable: true })
  return response.json().catch(() => {
    throw new InlayError('BAD_GATEWAY', { message: 'The service sent no JSON.' })
  })
}

import { webSearchConformance } from 'inlay/conformance'

/** What a stand-in answers in each mood; undefined: as it should. */
function standInFor(mood: string, answer: (sent: Record<string, unknown>) => unknown): typeof fetch {
  const statuses: Record<string, number> = { 'bad key': 401, 'no access': 403, policy: 422, busy: 429, failing: 500 }
  return async (_input, init) => {
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason), { once: true })
    await Promise.race([stopped, mood === 'silent' ? stopped : new Promise((resolve) => setImmediate(resolve))])
    const body = answer(JSON.parse(String(init?.body)) as Record<string, unknown>)
    if (mood === 'garbled') return new Response('<html>')
    if (mood === 'other') return Response.json({ something: 'else' })
    return Response.json(body, { status: statuses[mood] ?? 200, headers: { 'retry-after': '7' } })
  }
}

const searchTests = webSearchConformance(({ pages, mood }) => {
  const queries: string[] = []
  const standIn = standInFor(mood, ({ text }) => {
    queries.push(String(text))
    return {
      hits: pages.map(({ title, url, snippet, publishedAt }) => ({
        name: title,
        href: url,
        extract: snippet,
        day: publishedAt,
      })),
    }
  })
  return { search: companySearch(standIn, mood === 'silent' ? 50 : 5_000), queries }
})
for (const [title, run] of searchTests) test(title, run)

import type { ImageGenerator } from 'inlay/agent'

const sizes = { square: [1024, 1024], portrait: [1024, 1536], landscape: [1536, 1024] } as const

/** Draws by a service of the company. */
export function companyImages(fetchJson: typeof fetch, timeoutMs = 60_000): ImageGenerator {
  return async ({ prompt, shape, references, signal }) => {
    if (references.length > 0) throw new InlayError('UNSUPPORTED', { message: 'It draws from words alone.' })
    const [width, height] = sizes[shape]
    const reply = (await askService(fetchJson, { prompt, width, height }, timeoutMs, signal)) as { png?: string }
    if (reply.png === undefined) throw new InlayError('BAD_GATEWAY', { message: 'The service sent no picture.' })
    return [{ bytes: Uint8Array.from(atob(reply.png), (letter) => letter.charCodeAt(0)), mediaType: 'image/png' }]
  }
}

import { imageGeneratorConformance } from 'inlay/conformance'

const imageTests = imageGeneratorConformance(({ mood, png }) => {
  const requests: { prompt: string; width: number; height: number }[] = []
  const standIn = standInFor(mood, (sent) => {
    requests.push(sent as { prompt: string; width: number; height: number })
    return { png: Buffer.from(png).toString('base64') }
  })
  return { generate: companyImages(standIn, mood === 'silent' ? 50 : 60_000), requests: () => requests }
})
for (const [title, run] of imageTests) test(title, run)
