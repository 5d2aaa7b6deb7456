import { isJsonObject, readJson } from '@inlay/protocol'
import { notePage, readText } from '@inlay/server'
import { hash, timingSafeEqual } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { brandRule, type PageBrand } from './page-brand.ts'

export type { PageBrand }

const policyName = 'content-security-policy'
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * Headers of every response of the page. Scripts and styles come only from this server, nothing is fetched from
 * elsewhere, the page cannot be framed, and no script can convert text to HTML.
 */
const pageHeaders: Readonly<Record<string, string>> = {
  [policyName]: pagePolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export interface PageOptions {
  /** Folder with the built page. */
  readonly folder: string
  /** Base path of the API, as called by the page. */
  readonly basePath: string
  /** Handles every request that is not for the page. */
  readonly api: (request: Request) => Promise<Response>
  /**
   * The key that a page can fetch, and the token that proves that it was opened with the printed URL. Absent: the page
   * asks the user for a key.
   */
  readonly handover?: { readonly token: string; readonly key: string }
  /** Colours, corners and font. Default: those of Inlay. */
  readonly brand?: PageBrand
}

/** Information about the connection of a request. */
export interface Peer {
  /** IP address of the client; undefined if unknown. */
  readonly ip: string | undefined
}

/** Folder of the page that ships with this package; undefined if it was not built, as in a fresh clone. */
export function bundledPage(): string | undefined {
  // In the build it is next to this module; in the sources it is where the page is built.
  const places = ['./page/', '../../page/dist/'].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return places.find((folder) => existsSync(join(folder, 'index.html')))
}

/** Serves the page at `/` and passes other requests to the API. The files of the page are read once. */
export async function createPage(
  options: PageOptions,
): Promise<{ fetch: (request: Request, peer: Peer) => Promise<Response> }> {
  const files = await readFiles(options)
  return {
    async fetch(request, peer) {
      const { pathname } = new URL(request.url)
      if (pathname === '/page/key') return handOver(request, peer, options.handover)
      if (pathname === '/page/start') return answerStart(request, options)
      const file = files.get(pathname)
      if (file === undefined) {
        notePage(request)
        return options.api(request)
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, { allow: 'GET, HEAD' })
      const { content, headers } = await encoded(file, request.headers.get('accept-encoding') ?? '')
      if (request.headers.get('if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
      return new Response(request.method === 'HEAD' ? null : content, { headers })
    },
  }
}

interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>
  readonly headers: Record<string, string> & { etag: string }
}

/** A file that can be sent compressed; each encoding is created on first use. */
interface CompressibleFile extends PageFile {
  readonly compressed: Map<Encoding, Promise<PageFile>>
}

type Encoding = 'br' | 'gzip'

/** Below this size, the headers cost more than compression saves. */
const minCompressedBytes = 1_024
const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)]
const compress: Readonly<Record<Encoding, (content: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>>> = {
  br: (content) => toBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (content) => toGzip(content, { level: 9 }),
}

async function encoded(file: CompressibleFile, acceptEncoding: string): Promise<PageFile> {
  if (file.content.byteLength < minCompressedBytes) return file
  const encoding = acceptedEncoding(acceptEncoding)
  if (encoding === undefined) return file
  const known = file.compressed.get(encoding) ?? compressed(file, encoding)
  file.compressed.set(encoding, known)
  return known
}

async function compressed({ content, headers }: PageFile, encoding: Encoding): Promise<PageFile> {
  // Each encoding needs its own ETag.
  const etag = headers.etag.replace(/"$/, `-${encoding}"`)
  return { content: await compress[encoding](content), headers: { ...headers, 'content-encoding': encoding, etag } }
}

function acceptedEncoding(header: string): Encoding | undefined {
  const offers = header.split(',').map((offer) => /^\s*([\w*-]+)(?:\s*;\s*q=([\d.]+))?\s*$/.exec(offer))
  const takes = (name: string): boolean =>
    offers.some((offer) => offer?.[1]?.toLowerCase() === name && Number(offer[2] ?? 1) > 0)
  return (['br', 'gzip'] as const).find(takes)
}

async function readFiles({ folder, basePath, brand }: PageOptions): Promise<Map<string, CompressibleFile>> {
  const rule = brandRule(brand)
  const files = new Map<string, CompressibleFile>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = mediaTypes[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    const content =
      entry.name === 'index.html'
        ? toPage(await readFile(path, 'utf8'), basePath, rule)
        : new Uint8Array(await readFile(path))
    const place = `/${relative(folder, path).replaceAll('\\', '/')}`
    // File names in /assets contain a hash of their content.
    const cache = place.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const etag = `"${hash('sha256', content, 'base64url').slice(0, 22)}"`
    const headers = {
      ...pageHeaders,
      ...(place === '/index.html' && rule !== undefined && { [policyName]: policyWith(rule) }),
      'content-type': type,
      'cache-control': cache,
      etag,
      vary: 'accept-encoding',
    }
    files.set(place === '/index.html' ? '/' : place, { content, headers, compressed: new Map() })
  }
  return files
}

/** API routes that the page needs for its first view, by the names it uses for them. */
const startRoutes = {
  me: '/me',
  version: '/version',
  models: '/llm/provider',
  agents: '/persona',
  chats: '/chat/get-user-chat-sessions?page_size=50&only_non_project_chats=false',
  projects: '/user/projects',
  pinned: '/service-api/pinned-chat-sessions',
  figures: '/service-api/ingestion-figures',
} as const

const adminRoutes = new Set<string>(['figures'])

/**
 * Returns everything the page needs for its first view in one response. Each part is the API's response to the caller's
 * own key, or null if the caller may not read it.
 */
async function answerStart(request: Request, { api, basePath }: PageOptions): Promise<Response> {
  if (request.method !== 'GET') return refusal(405, { allow: 'GET' })
  const { origin } = new URL(request.url)
  const headers = { authorization: request.headers.get('authorization') ?? '' }
  const call = (path: string): Promise<Response> => api(new Request(`${origin}${basePath}${path}`, { headers }))
  const me = await call(startRoutes.me)
  if (!me.ok) return me
  const caller: unknown = await me.json()
  const isAdmin = isJsonObject(caller) && caller['is_superuser'] === true
  const parts = Object.entries(startRoutes).map(async ([name, path]): Promise<[string, unknown]> => {
    if (name === 'me') return [name, caller]
    if (adminRoutes.has(name) && !isAdmin) return [name, null]
    const response = await call(path)
    return [name, response.ok ? await response.json() : null]
  })
  const body = new TextEncoder().encode(JSON.stringify(Object.fromEntries(await Promise.all(parts))))
  const encoding = acceptedEncoding(request.headers.get('accept-encoding') ?? '')
  const isCompressed = encoding !== undefined && body.byteLength >= minCompressedBytes
  return new Response(isCompressed ? await compress[encoding](body) : body, {
    headers: {
      ...pageHeaders,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'accept-encoding, authorization',
      ...(isCompressed && { 'content-encoding': encoding }),
    },
  })
}

/** The page's HTML with the base path of the API, which its script reads, and the rule of its brand. */
function toPage(html: string, basePath: string, rule: string | undefined): Uint8Array<ArrayBuffer> {
  const attribute = basePath.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const page = html.replace('data-base-path="/api"', () => `data-base-path="${attribute}"`)
  const style = rule === undefined ? '' : `<style>${rule}</style>`
  return new TextEncoder().encode(page.replace('</head>', () => `${style}</head>`))
}

/** The policy of the page, which lets only this rule stand in its HTML. */
function policyWith(rule: string): string {
  return pagePolicy.replace("style-src 'self'", `style-src 'self' 'sha256-${hash('sha256', rule, 'base64')}'`)
}

/**
 * Returns the API key to a page that was opened with the printed URL. The fragment of that URL contains a token, which
 * browsers never send; the page sends it here once and forgets it. So neither a web site that the user visits (it does
 * not know the token, even with DNS rebinding) nor another user of the machine (who can connect, but did not see the
 * terminal) gets the key; an endpoint that returned it to any local request would serve both. The token is only valid
 * for this process, so a copy in the browser's history is useless later. The other checks are cheap and hold even if
 * the token leaks.
 */
async function handOver(request: Request, peer: Peer, handover: PageOptions['handover']): Promise<Response> {
  if (request.method !== 'POST') return refusal(405, { allow: 'POST' })
  if (handover === undefined) return refusal(403)
  const host = request.headers.get('host') ?? ''
  const origin = request.headers.get('origin')
  const isFromHere =
    isLoopbackAddress(peer.ip) &&
    isLoopbackName(host) &&
    origin === `http://${host}` &&
    (request.headers.get('sec-fetch-site') ?? 'same-origin') === 'same-origin'
  const token = isFromHere ? await readToken(request) : ''
  if (!isEqual(token, handover.token)) return refusal(403)
  return Response.json({ key: handover.key }, { headers: { ...pageHeaders, 'cache-control': 'no-store' } })
}

/** The page sends only a token. */
const maxTokenBytes = 4096

async function readToken(request: Request): Promise<string> {
  // The caller is not authenticated yet, so at most a token is read.
  const text = await readText(request, { maxBytes: maxTokenBytes }).catch(() => '')
  const body = readJson(text)
  const token = isJsonObject(body) ? body['token'] : ''
  return typeof token === 'string' ? token : ''
}

export function isLoopbackAddress(ip: string | undefined): boolean {
  return ip === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(ip ?? '')
}

/** Whether a host, with or without a port, is a loopback name that no name server can change. */
export function isLoopbackName(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}

/** Compares hashes, so that timing reveals nothing. */
function isEqual(left: string, right: string): boolean {
  return right !== '' && timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'))
}

const refusal = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers: { ...pageHeaders, ...headers } })
