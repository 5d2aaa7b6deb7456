import { isJsonObject, readJson } from '@inlay/protocol'
import { readText } from '@inlay/server'
import { createHash, timingSafeEqual } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

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

/** Options of the page server. */
export interface PageOptions {
  /** Folder with the built page. */
  readonly folder: string
  /** Base path of the API, as called by the page. */
  readonly basePath: string
  /** Answers every request that is not for the page. */
  readonly api: (request: Request) => Promise<Response>
  /**
   * The key a page may fetch, and the token that shows that it was opened by the printed address. Absent: the page asks
   * the person for a key.
   */
  readonly handover?: { readonly token: string; readonly key: string }
}

/** Information about a request besides its own content. */
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

/** A file that may be sent compressed; each encoding is made once, when it is first asked for. */
interface CompressibleFile extends PageFile {
  readonly compressed: Map<Encoding, Promise<PageFile>>
}

type Encoding = 'br' | 'gzip'

/** Below it the headers weigh more than what is saved. */
const minCompressedBytes = 1_024
const compress: Readonly<Record<Encoding, (content: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>>> = {
  br: promisify((content: Uint8Array, done: (error: Error | null, bytes: Buffer<ArrayBuffer>) => void) =>
    brotliCompress(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }, done),
  ),
  gzip: promisify((content: Uint8Array, done: (error: Error | null, bytes: Buffer<ArrayBuffer>) => void) =>
    gzip(content, { level: 9 }, done),
  ),
}

/** The file in the best encoding that the client takes. */
async function encoded(file: CompressibleFile, acceptEncoding: string): Promise<PageFile> {
  if (file.content.byteLength < minCompressedBytes) return file
  const encoding = acceptedEncoding(acceptEncoding)
  if (encoding === undefined) return file
  const known = file.compressed.get(encoding) ?? compressed(file, encoding)
  file.compressed.set(encoding, known)
  return known
}

async function compressed({ content, headers }: PageFile, encoding: Encoding): Promise<PageFile> {
  // Bytes that differ need tags that differ.
  const etag = headers.etag.replace(/"$/, `-${encoding}"`)
  return { content: await compress[encoding](content), headers: { ...headers, 'content-encoding': encoding, etag } }
}

function acceptedEncoding(header: string): Encoding | undefined {
  const offers = header.split(',').map((offer) => /^\s*([\w*-]+)(?:\s*;\s*q=([\d.]+))?\s*$/.exec(offer))
  const takes = (name: string): boolean =>
    offers.some((offer) => offer?.[1]?.toLowerCase() === name && Number(offer[2] ?? 1) > 0)
  return (['br', 'gzip'] as const).find(takes)
}

async function readFiles(folder: string, basePath: string): Promise<Map<string, CompressibleFile>> {
  const files = new Map<string, CompressibleFile>()
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
    const headers = { ...pageHeaders, 'content-type': type, 'cache-control': cache, etag, vary: 'accept-encoding' }
    files.set(place === '/index.html' ? '/' : place, { content, headers, compressed: new Map() })
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
  // The caller is not authenticated yet, so no more than a token is read.
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
