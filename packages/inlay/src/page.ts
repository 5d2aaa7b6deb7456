import { isJsonObject, readJson } from '@inlay/protocol'
import { readText } from '@inlay/server'
import { createHash, timingSafeEqual } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Headers of every answer of the page. Scripts and styles come from this server alone, nothing is fetched from
 * elsewhere, nothing may frame the page, and no script may turn a text into HTML.
 */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
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
  ].join('; '),
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

/** What the page server is made of. */
export interface PageOptions {
  /** Folder with the built page. */
  readonly folder: string
  /** Where the API is, as the page calls it. */
  readonly basePath: string
  /** Answers every request that is not for the page. */
  readonly api: (request: Request) => Promise<Response>
  /**
   * The key a page may fetch, and the token that shows that it was opened by the printed address. Absent: the page asks
   * the person for a key.
   */
  readonly handover?: { readonly token: string; readonly key: string }
}

/** What is known of a request besides what it says itself. */
export interface Peer {
  /** Address of the other end of the connection; undefined when unknown. */
  readonly ip: string | undefined
}

/** Folder of the page that ships with this package; undefined where it was not built, as in a fresh clone. */
export function bundledPage(): string | undefined {
  // From the build it lies beside this module, from sources where the page is built.
  const places = ['./page/', '../../../playground/dist/'].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return places.find((folder) => existsSync(join(folder, 'index.html')))
}

/** Serves the page at `/` and hands the rest to the API. The page's files are read once. */
export async function createPage(
  options: PageOptions,
): Promise<{ fetch: (request: Request, peer: Peer) => Promise<Response> }> {
  const files = await readFiles(options.folder, options.basePath)
  return {
    async fetch(request, peer) {
      const { pathname } = new URL(request.url)
      if (pathname === '/page/key') return handOver(request, peer, options.handover)
      const file = files.get(pathname)
      if (file === undefined) return options.api(request)
      if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, { allow: 'GET, HEAD' })
      if (request.headers.get('if-none-match') === file.headers.etag)
        return new Response(null, { status: 304, headers: file.headers })
      return new Response(request.method === 'HEAD' ? null : file.content, { headers: file.headers })
    },
  }
}

interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>
  readonly headers: Record<string, string> & { etag: string }
}

async function readFiles(folder: string, basePath: string): Promise<Map<string, PageFile>> {
  const files = new Map<string, PageFile>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = mediaTypes[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    const content =
      entry.name === 'index.html'
        ? withBasePath(await readFile(path, 'utf8'), basePath)
        : new Uint8Array(await readFile(path))
    const place = `/${relative(folder, path).replaceAll('\\', '/')}`
    // Names in /assets carry a hash of their content.
    const cache = place.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
    const headers = { ...pageHeaders, 'content-type': type, 'cache-control': cache, etag }
    files.set(place === '/index.html' ? '/' : place, { content, headers })
  }
  return files
}

/** The page's HTML with the place of the API in it, where its script looks for it. */
function withBasePath(html: string, basePath: string): Uint8Array<ArrayBuffer> {
  const attribute = basePath.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return new TextEncoder().encode(html.replace('data-base-path="/api"', () => `data-base-path="${attribute}"`))
}

/**
 * Gives the API key to a page that was opened by the printed address. That address carries a token in its fragment,
 * which browsers send to nobody; the page sends it here once and forgets it. So neither a web site the person visits
 * (it does not know the token, whatever name it rebinds to this address) nor another user of the machine (who can
 * connect, but did not see the terminal) gets the key; an endpoint that gave it to whoever asks from this machine would
 * serve both. The token dies with this process, so that what stays in the browser's history is worth nothing later.
 * The other checks cost nothing and hold even if the token leaks.
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
  const { token } = isFromHere ? await readToken(request) : { token: '' }
  if (!isEqual(token, handover.token)) return refusal(403)
  return Response.json({ key: handover.key }, { headers: { ...pageHeaders, 'cache-control': 'no-store' } })
}

/** The page sends a token and nothing else. */
const mostTokenBytes = 4096

async function readToken(request: Request): Promise<{ token: string }> {
  // Whoever asks is not known yet, so no more is read than a token takes.
  const text = await readText(request, { limitBytes: mostTokenBytes }).catch(() => '')
  const body = readJson(text)
  const token = isJsonObject(body) ? body['token'] : ''
  return { token: typeof token === 'string' ? token : '' }
}

/** Whether an address of a connection is this machine's own. */
export function isLoopbackAddress(ip: string | undefined): boolean {
  return ip === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(ip ?? '')
}

/** Whether a host, with or without a port, names this machine in a way that no name server can change. */
export function isLoopbackName(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}

/** Compares hashes, since the time a comparison takes must tell nothing. */
function isEqual(left: string, right: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return right !== '' && timingSafeEqual(hash(left), hash(right))
}

const refusal = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers: { ...pageHeaders, ...headers } })
