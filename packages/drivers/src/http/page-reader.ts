import type { PageReader, ReadPage } from '@inlay/agent'
import type { ExtractedFile, FileExtractor } from '@inlay/knowledge'
import { InlayError, type ErrorCode, checkRequired } from '@inlay/protocol'
import type { Egress, EgressAnswer } from './egress.ts'

export interface PageReaderOptions {
  /** Fetches untrusted URLs, and restricts which are allowed. */
  readonly egress: Egress
  /** Extracts text: `fileExtractor()`. */
  readonly extract: FileExtractor
  /** Maximum bytes of a page or document after decompression. Default 20 MiB. */
  readonly maxBytes?: number
  /** Timeout for fetching one, including redirects, in milliseconds. Default 20,000. */
  readonly timeoutMs?: number
  /** Maximum characters of text per page. Default 1 million. */
  readonly textLimitCharacters?: number
}

/** Beginnings of the media types that may hold text; untyped bytes are detected by their content. */
const mediaTypes = [
  'text/',
  'application/xhtml+xml',
  'application/xml',
  'application/rss+xml',
  'application/atom+xml',
  'application/json',
  'application/ld+json',
  'application/yaml',
  'application/pdf',
  'application/x-pdf',
  'application/vnd.openxmlformats-officedocument',
  'application/octet-stream',
  // Generic type that some object stores send for any file.
  'binary/octet-stream',
  'message/rfc822',
]

/**
 * Reads web pages, PDF, Office and text files by URL: the main part of a page as Markdown, with complete links. Rejects
 * with the errors of the egress client and of the extraction, with NOT_FOUND, AUTH_ERROR, RATE_LIMIT or BAD_GATEWAY for
 * an error response, and with INVALID_INPUT for a page without text.
 * @example pageReader({ egress: egress(), extract: fileExtractor() })
 */
export function pageReader(options: PageReaderOptions): PageReader {
  checkRequired('pageReader', options, 'maxBytes timeoutMs textLimitCharacters', {
    egress: ['a function, see egress()', (value) => typeof value === 'function'],
    extract: ['a function, see fileExtractor()', (value) => typeof value === 'function'],
  })
  const { egress, extract, maxBytes = 20 * 2 ** 20, timeoutMs, textLimitCharacters = 1_000_000 } = options
  return async (url, { signal } = {}) => {
    const response = await egress(url, { headers: { accept }, mediaTypes, maxBytes, timeoutMs, signal })
    if (response.status < 200 || response.status > 299) throw refusal(response.status)
    if (response.bytes.byteLength === 0) throw withoutText()
    const mediaType = response.headers.get('content-type') ?? undefined
    const file = await extract({ name: nameOf(response), mediaType, bytes: response.bytes }, { signal })
    return toPage(response.url, file, textLimitCharacters)
  }
}

const accept = 'text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5'

function toPage(url: string, file: ExtractedFile, limit: number): ReadPage {
  const whole = file.sections.map(({ heading, text }) => (heading ? `## ${heading}\n\n${text}` : text)).join('\n\n')
  const text = (file.mediaType === 'text/html' ? withWholeLinks(whole, url) : whole).slice(0, limit).trim()
  if (text === '') throw withoutText()
  const updatedAt = file.updatedAt ?? file.createdAt
  return { url, title: file.title ?? '', text, ...(updatedAt === undefined ? {} : { updatedAt }) }
}

function withWholeLinks(markdown: string, base: string): string {
  return markdown.replace(/\]\((?![a-z][a-z\d+.-]*:|<)([^()\s]+)\)/gi, (link, target: string) => {
    const whole = URL.parse(target, base)
    return whole ? `](${whole.href})` : link
  })
}

/** File name from the response or URL; its extension helps to detect the type. */
function nameOf({ url, headers }: EgressAnswer): string {
  const named = /filename\*?=(?:utf-8'')?"?([^";]+)/i.exec(headers.get('content-disposition') ?? '')?.[1]
  return named ?? new URL(url).pathname.split('/').at(-1) ?? ''
}

function refusal(status: number): InlayError {
  const [code, message]: readonly [ErrorCode, string] =
    status === 404 || status === 410
      ? ['NOT_FOUND', 'There is no page at this address.']
      : status === 401 || status === 403
        ? ['AUTH_ERROR', 'The page is not open to everybody: it asks who reads it.']
        : status === 429
          ? ['RATE_LIMIT', 'The site limits how often it is read: try again in a while.']
          : ['BAD_GATEWAY', `The site could not give the page (status ${status}).`]
  return new InlayError(code, { message, data: { status }, retryable: status === 429 || status >= 500 })
}

function withoutText(): InlayError {
  return new InlayError('INVALID_INPUT', {
    message: 'The page holds no text that can be read: it may consist of pictures, or be drawn by scripts.',
  })
}
