import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, type Listening } from '../../playground/server/listen.ts'
import { readBrand } from 'inlay/internal/page-brand'
import { createPage, isLoopbackAddress, isLoopbackName, type PageBrand } from 'inlay/page'

const token = 'token-of-this-start'
const key = 'inlay_key-of-this-folder'
let folder: string
let page: Awaited<ReturnType<typeof createPage>>
let listening: Listening

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlay-page-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><html data-base-path="/api"><head><title>Inlay</title></head></html>',
  )
  await writeFile(join(folder, 'assets', 'index-abc.js'), 'export {}')
  const words = JSON.stringify(Array.from({ length: 2_000 }, (_, at) => `word ${at}`))
  await writeFile(join(folder, 'assets', 'large-abc.js'), `export const words = ${words}`)
  await writeFile(join(folder, '.built-from'), 'secret of the build')
  page = await createPage({
    folder,
    basePath: '/assist"ant',
    api: async (request) => Response.json({ api: new URL(request.url).pathname }),
    handover: { token, key },
  })
  const started = await listen({ host: '127.0.0.1', port: 0, fetch: page.fetch })
  if ('refusal' in started) throw new Error(started.refusal)
  listening = started
})

afterAll(async () => {
  await listening.close({ close: async () => {} })
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** Asks over a real connection with every header as given; `fetch` would set Host and Origin by itself. */
function ask(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { port: listening.port, host: '127.0.0.1', path, method: options.method ?? 'GET', headers: options.headers },
      (incoming) => {
        let body = ''
        incoming.on('data', (chunk) => (body += chunk))
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(options.body)
  })
}

const here = (): string => `127.0.0.1:${listening.port}`

const askForKey = (headers: Record<string, string> = {}, body: unknown = { token }): Promise<Answer> =>
  ask('/page/key', {
    method: 'POST',
    headers: { host: here(), origin: `http://${here()}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('nobody can make it read more than a token takes', async () => {
  const { status } = await askForKey({}, { token, padding: 'x'.repeat(5000) })
  expect(status).toBe(403)
  let pulled = 0
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024).fill(++pulled)),
  })
  const request = new Request(`http://${here()}/page/key`, {
    method: 'POST',
    headers: { host: here(), origin: `http://${here()}` },
    body: endless,
    duplex: 'half',
  } as RequestInit)
  expect((await page.fetch(request, { ip: '127.0.0.1' })).status).toBe(403)
  expect(pulled).toBeLessThan(10)
})

describe('the page', () => {
  test('is served at / with a policy that lets nothing in from elsewhere', async () => {
    const { status, headers, body } = await ask('/')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(body).toContain('<title>Inlay</title>')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("trusted-types 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
  })

  test('learns where the API is', async () => {
    expect((await ask('/')).body).toContain('data-base-path="/assist&quot;ant"')
  })

  test('keeps hashed files for good and asks again for the rest', async () => {
    expect((await ask('/assets/index-abc.js')).headers['cache-control']).toContain('immutable')
    const first = await ask('/')
    expect(first.headers['cache-control']).toBe('no-cache')
    const second = await ask('/', { headers: { 'if-none-match': String(first.headers.etag) } })
    expect([second.status, second.body]).toEqual([304, ''])
  })

  test('answers HEAD without a body and refuses what is no reading', async () => {
    expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
    expect(await ask('/', { method: 'POST' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  test('gives out the files of the page and no others', async () => {
    for (const path of [
      '/.built-from',
      '/assets/../../package.json',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/index.html/..%2f',
    ])
      expect((await ask(path)).body).toContain('"api"')
  })

  test('hands every other request to the API', async () => {
    expect((await ask('/api/health')).body).toBe('{"api":"/api/health"}')
  })
})

describe('the key', () => {
  test('is given for the token of the printed address', async () => {
    const { status, headers, body } = await askForKey()
    expect([status, JSON.parse(body)]).toEqual([200, { key }])
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  test.each([
    ['a wrong token', {}, { token: 'guess' }],
    ['no token', {}, {}],
    ['a token that is no text', {}, { token: [token] }],
    ['a name that was rebound to this machine', { host: 'evil.example', origin: 'http://evil.example' }, { token }],
    ['a page of another site', { origin: 'https://evil.example' }, { token }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, { token }],
    ['a request without an origin', { origin: 'null' }, { token }],
    ['a request that a browser calls cross-site', { 'sec-fetch-site': 'cross-site' }, { token }],
    [
      'a name that only begins like this machine',
      { host: 'localhost.evil.example', origin: 'http://localhost.evil.example' },
      { token },
    ],
  ])('is not given to %s', async (_who, headers, body) => {
    const answer = await askForKey(headers, body)
    expect(answer.status).toBe(403)
    expect(answer.body).not.toContain(key)
  })

  test('is not given to another machine', async () => {
    const request = new Request(`http://${here()}/page/key`, {
      method: 'POST',
      headers: { host: here(), origin: `http://${here()}` },
      body: JSON.stringify({ token }),
    })
    expect((await page.fetch(request, { ip: '192.168.1.7' })).status).toBe(403)
  })

  test('is not given by a reading request', async () => {
    expect((await ask(`/page/key?token=${token}`)).status).toBe(405)
  })
})

test('loopback is told by address and name', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopbackAddress)).toBe(true)
  expect(['10.0.0.1', '::ffff:10.0.0.1', undefined, '127.0.0.1.evil'].some(isLoopbackAddress)).toBe(false)
  expect(['localhost', 'localhost:80', '127.0.0.1:3000', '[::1]:3000'].every(isLoopbackName)).toBe(true)
  expect(
    ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '', '10.0.0.1'].some(isLoopbackName),
  ).toBe(false)
})

test('a folder named with a slash at its end serves the same page', async () => {
  const { fetch: served } = await createPage({
    folder: `${folder}/`,
    basePath: '/api',
    api: async () => new Response(null, { status: 404 }),
  })
  const peer = { ip: '127.0.0.1' }
  expect(await (await served(new Request('http://127.0.0.1/'), peer)).text()).toContain('<title>Inlay</title>')
  expect((await served(new Request('http://127.0.0.1/assets/index-abc.js'), peer)).status).toBe(200)
})

describe('the brand of a host', () => {
  const served = async (brand: PageBrand): Promise<Response> => {
    const branded = await createPage({ folder, basePath: '/api', api: async () => new Response(), brand })
    return branded.fetch(new Request('http://localhost/'), { ip: undefined })
  }

  test('stands in the page as one rule, which is the only one that the policy lets in', async () => {
    const response = await served({ accent: 'light-dark(#7a1fa2, #d5a6ea)', font: "'Noto Serif', serif" })
    const rule = ":root{--inlay-accent:light-dark(#7a1fa2, #d5a6ea);--inlay-font:'Noto Serif', serif}"
    expect(await response.text()).toContain(`<style>${rule}</style></head>`)
    const hash = createHash('sha256').update(rule).digest('base64')
    const policy = response.headers.get('content-security-policy')
    expect(policy?.match(/style-src [^;]*/)?.[0]).toBe(`style-src 'self' 'sha256-${hash}'`)
    expect(policy).not.toContain('unsafe')
  })

  test('is nothing by default', async () => {
    const response = await served({})
    expect(await response.text()).not.toContain('<style')
    expect(response.headers.get('content-security-policy')).toMatch(/style-src 'self';/)
  })

  test.each([
    'red;} body{display:none',
    '</style><script>1</script>',
    'url(https://evil.example/p.png)',
    'URL (x)',
    'image("https://evil.example/p.png")',
    '#fff /* ',
    '"open',
    `'"'"a`,
    '"a\nb"',
    'rgb(1,2,3',
    ')(',
    'red !important; --x: 1',
    '\\66',
    '@import',
    '',
  ])('takes no value that is more than one: %s', async (accent) => {
    await expect(served({ accent })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('brand.accent'),
    })
  })

  test('may have quotes in quotes, and space around it', async () => {
    const response = await served({ font: ` "Bob's Hand", '"q"', serif\n` })
    expect(await response.text()).toContain(`:root{--inlay-font:"Bob's Hand", '"q"', serif}`)
  })

  test('is read from declarations as in a style sheet, and refused as a whole when one is not known', () => {
    expect(readBrand('--inlay-accent: #7a1fa2; --inlay-radius:6px;')).toEqual({ accent: '#7a1fa2', radius: '6px' })
    expect(['--inlay-shadow: none', 'accent: red', '--inlay-accent', '--inlay-accent: url(x)'].map(readBrand)).toEqual(
      Array(4).fill(undefined),
    )
  })
})

test('without a key to hand over, no token opens anything', async () => {
  const { fetch: served } = await createPage({
    folder,
    basePath: '/api',
    api: async () => new Response(null, { status: 404 }),
  })
  const headers = { host: '127.0.0.1', origin: 'http://127.0.0.1', 'content-type': 'application/json' }
  for (const body of ['{"token":""}', '{}', '{"token":"undefined"}']) {
    const request = new Request('http://127.0.0.1/page/key', { method: 'POST', headers, body })
    expect((await served(request, { ip: '127.0.0.1' })).status).toBe(403)
  }
})

describe('a file that is large enough', () => {
  const script = `export const words = ${JSON.stringify(Array.from({ length: 2_000 }, (_, at) => `word ${at}`))}`
  const get = async (headers: Record<string, string>, method = 'GET'): Promise<Response> =>
    page.fetch(new Request('http://localhost/assets/large-abc.js', { method, headers }), { ip: undefined })
  const tagOf = (response: Response): string => response.headers.get('etag') ?? ''

  test.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ] as const)('is sent compressed to a client that takes %s', async (accepted, encoding, decompress) => {
    const response = await get({ 'accept-encoding': accepted })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(response.headers.get('vary')).toBe('accept-encoding')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(bytes.byteLength).toBeLessThan(script.length / 2)
    expect(decompress(bytes).toString()).toBe(script)
    const again = await get({ 'accept-encoding': accepted, 'if-none-match': tagOf(response) })
    expect(again.status).toBe(304)
    expect(tagOf(again)).toBe(tagOf(response))
  })

  test.each(['', 'identity', 'br;q=0', 'zstd'])('is sent as it is to a client that takes %j', async (accepted) => {
    const response = await get({ 'accept-encoding': accepted })
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(response.headers.get('vary')).toBe('accept-encoding')
    expect(await response.text()).toBe(script)
  })

  test('has a tag for each encoding, and a compressed one is no answer to a client without it', async () => {
    const responses = await Promise.all(['', 'gzip', 'br'].map((accepted) => get({ 'accept-encoding': accepted })))
    expect(new Set(responses.map(tagOf)).size).toBe(3)
    expect((await get({ 'if-none-match': tagOf(responses[2]!) })).status).toBe(200)
  })
})

describe('what a page needs first', () => {
  const partsOf = async (isAdmin: boolean, authorization = 'Bearer known'): Promise<[Response, string[]]> => {
    const requestedPaths: string[] = []
    const { fetch: served } = await createPage({
      folder,
      basePath: '/base',
      api: async (request) => {
        const { pathname } = new URL(request.url)
        requestedPaths.push(pathname)
        if (request.headers.get('authorization') !== 'Bearer known') return new Response(null, { status: 401 })
        if (pathname === '/base/persona') return new Response(null, { status: 403 })
        return Response.json(pathname === '/base/me' ? { is_superuser: isAdmin } : { of: pathname })
      },
    })
    const request = new Request('http://here.example/page/start', { headers: { authorization } })
    return [await served(request, { ip: undefined }), requestedPaths]
  }

  test('comes in one answer, each part as the API gives it to the same key, and null where it gives none', async () => {
    const [response] = await partsOf(true)
    expect(await response.json()).toEqual({
      me: { is_superuser: true },
      version: { of: '/base/version' },
      models: { of: '/base/llm/provider' },
      agents: null,
      chats: { of: '/base/chat/get-user-chat-sessions' },
      projects: { of: '/base/user/projects' },
      pinned: { of: '/base/service-api/pinned-chat-sessions' },
      figures: { of: '/base/service-api/ingestion-figures' },
    })
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('asks for no figures with a key that may not see them', async () => {
    const [response, requestedPaths] = await partsOf(false)
    expect(await response.json()).toMatchObject({ figures: null })
    expect(requestedPaths).not.toContain('/base/service-api/ingestion-figures')
  })

  test('a key that is not known gets nothing', async () => {
    const [response, requestedPaths] = await partsOf(true, 'Bearer other')
    expect([response.status, requestedPaths]).toEqual([401, ['/base/me']])
  })
})
