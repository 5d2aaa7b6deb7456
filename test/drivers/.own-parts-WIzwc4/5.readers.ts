import { InlayError } from 'inlay'
import { fileExtractor } from 'inlay/drivers'
import type { InlayOptions } from 'inlay'

type FileReader = NonNullable<InlayOptions['readFile']>

const extract = fileExtractor()

/** Reads subtitles as what is said; every other file as Inlay does. */
export const readFileWithSubtitles: FileReader = async (file, options) => {
  if (!/\.srt$/i.test(file.name)) return extract(file, options)
  options?.signal?.throwIfAborted()
  const text = new TextDecoder().decode(file.bytes)
  if (!text.includes('-->') && text.trim() !== '')
    throw new InlayError('INVALID_INPUT', { message: 'These subtitles have no times: export them again.' })
  const lines = text.split(/\r?\n/).filter((line) => !/-->|^\d+$/.test(line) && line.trim() !== '')
  return { sections: lines.length > 0 ? [{ text: lines.join('\n') }] : [] }
}

import { fileReaderConformance } from 'inlay/conformance'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const subtitles = '1\n00:00:01,000 --> 00:00:02,000\nHerons wait.\n\n2\n00:00:03,000 --> 00:00:04,000\nThey fly.\n'
const fileTests = fileReaderConformance(() => ({
  read: readFileWithSubtitles,
  readable: [
    { name: 'film.srt', bytes: bytesOf(subtitles), passages: ['Herons wait.', 'They fly.'] },
    { name: 'notes.txt', bytes: bytesOf('Otters swim.'), passages: ['Otters swim.'] },
  ],
  unreadable: [{ name: 'film.srt', bytes: bytesOf('no times at all') }],
}))
for (const [title, run] of fileTests) test(title, run)

import type { PageReader } from 'inlay/agent'

interface WikiPage {
  readonly title: string
  readonly body: string
  readonly changed?: number
}

/** Reads pages of one wiki by its API. */
export function wikiReader(fetchPage: typeof fetch): PageReader {
  return async (url, { signal } = {}) => {
    signal?.throwIfAborted()
    const address = URL.parse(url)
    if (address?.origin !== 'https://wiki.example')
      throw new InlayError('BAD_REQUEST', { message: 'Only pages of the wiki can be read.' })
    const limit = AbortSignal.timeout(2_000)
    const api = `https://wiki.example/api${address.pathname}`
    const response = await fetchPage(api, { signal: signal ? AbortSignal.any([signal, limit]) : limit }).catch(() => {
      signal?.throwIfAborted()
      throw new InlayError('GATEWAY_TIMEOUT', { message: 'The wiki does not answer.' })
    })
    if (!response.ok) throw refusal(response.status)
    const { title, body, changed } = (await response.json()) as WikiPage
    if (body.trim() === '') throw new InlayError('INVALID_INPUT', { message: 'The page holds no text.' })
    return { url, title, text: body, ...(changed !== undefined && { updatedAt: changed }) }
  }
}

function refusal(status: number): InlayError {
  if (status === 404) return new InlayError('NOT_FOUND', { message: 'There is no page at this address.' })
  if (status === 401) return new InlayError('AUTH_ERROR', { message: 'The page asks who reads it.' })
  if (status === 429)
    return new InlayError('RATE_LIMIT', { message: 'The wiki is busy: try again later.', retryable: true })
  return new InlayError('BAD_GATEWAY', { message: 'The wiki could not give the page.', retryable: true })
}

import { pageReaderConformance } from 'inlay/conformance'

const statuses = { missing: 404, closed: 401, busy: 429, failing: 500 }
const pageTests = pageReaderConformance(({ mood, pages }) => {
  const standIn: typeof fetch = async (input, init) => {
    if (mood === 'silent')
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason), { once: true })
      })
    init?.signal?.throwIfAborted()
    const page = pages[Number(String(input).split('/').at(-1))]
    if (mood in statuses) return new Response('', { status: statuses[mood as keyof typeof statuses] })
    const body = mood === 'blank' ? ' ' : page?.paragraphs.join('\n\n')
    await new Promise((resolve) => setImmediate(resolve))
    init?.signal?.throwIfAborted()
    return Response.json({ title: page?.title, body, changed: page?.publishedAt })
  }
  return {
    read: wikiReader(standIn),
    urls: pages.map((_page, at) => `https://wiki.example/${at}`),
    forbidden: ['http://127.0.0.1/', 'https://wiki.example.evil.example/0', 'https://intranet/'],
  }
})
for (const [title, run] of pageTests) test(title, run)
