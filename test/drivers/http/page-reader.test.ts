import type { PageReader } from '@inlay/agent'
import { egress } from '@inlay/drivers/egress'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { pageReader, type PageReaderOptions } from '@inlay/drivers/page-reader'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { startSite, type SitePage, type WebSite } from '../../stand-in/web-site.ts'
import { docx, latin1, paragraph, pdf, pdfText } from '../files/samples.ts'

const extract = fileExtractor()
const sites: WebSite[] = []
afterEach(async () => {
  for (const site of sites.splice(0)) await site.close()
})
afterAll(() => extract.close())

async function open(
  pages: Readonly<Record<string, SitePage>>,
  options: Partial<PageReaderOptions> = {},
): Promise<{ read: PageReader; site: WebSite }> {
  const site = await startSite(pages)
  sites.push(site)
  return { site, read: pageReader({ egress: egress({ allowHosts: [site.host] }), extract, ...options }) }
}

const article = `<!doctype html><html><head><title>Herons of the delta</title>
<meta property="article:published_time" content="2026-02-03"></head>
<body><nav><a href="/">Home</a></nav><main><h1>Herons</h1>
<p>They nest in April, see <a href="/nests?y=1">the nests</a>, <a href="map.html">a map</a> and
<a href="https://other.example/x">others</a>.</p></main><footer>Imprint</footer></body></html>`

describe('a page', () => {
  test('is read as its main part, with title, date and links that lead somewhere', async () => {
    const { read, site } = await open({ '/birds/herons.html': { body: article } })
    const url = `${site.origin}/birds/herons.html`
    const page = await read(`${url}#nests`)
    expect(page).toMatchObject({ title: 'Herons of the delta', updatedAt: Date.UTC(2026, 1, 3) })
    expect(page.url).toBe(`${url}#nests`)
    expect(page.text).toContain('They nest in April')
    expect(page.text).not.toMatch(/Home|Imprint/)
    expect(page.text).toContain(`](${site.origin}/nests?y=1)`)
    expect(page.text).toContain(`](${site.origin}/birds/map.html)`)
    expect(page.text).toContain('](https://other.example/x)')
  })

  test('says where it was found after redirects', async () => {
    const { read, site } = await open({
      '/old': { status: 301, headers: { location: '/new' } },
      '/new': { body: article },
    })
    expect((await read(`${site.origin}/old`)).url).toBe(`${site.origin}/new`)
  })

  test('in another charset is read by what its answer or its head declares', async () => {
    const { read, site } = await open({
      '/head': { type: 'text/html', body: latin1('<html><meta charset=iso-8859-1><p>Größe</p></html>') },
      '/answer': { type: 'text/html; charset=ISO-8859-1', body: latin1('<html><p>Größe</p></html>') },
    })
    for (const path of ['/head', '/answer']) expect((await read(site.origin + path)).text).toBe('Größe')
  })

  test('is cut at the limit of characters', async () => {
    const { read, site } = await open({ '/': { body: `<p>${'word '.repeat(500)}</p>` } }, { textLimitCharacters: 100 })
    expect((await read(site.origin)).text.length).toBeLessThanOrEqual(100)
  })
})

test('PDF, Office, JSON and plain text are read for what they are', async () => {
  const { read, site } = await open({
    '/a.pdf': { type: 'application/pdf', body: pdf([pdfText([[72, 700, 12, 'A PDF speaks.']])]) },
    '/b': { type: 'application/octet-stream', body: docx(paragraph('A letter speaks.')) },
    '/c.json': { type: 'application/json', body: '{"text": "JSON speaks."}' },
    '/d.txt': { type: 'text/plain', body: 'Text speaks.' },
    '/e': { type: null, body: 'Nobody says what this is.' },
  })
  for (const [path, text] of [
    ['/a.pdf', 'A PDF speaks.'],
    ['/b', 'A letter speaks.'],
    ['/c.json', 'JSON speaks.'],
    ['/d.txt', 'Text speaks.'],
    ['/e', 'Nobody says what this is.'],
  ] as const)
    expect((await read(site.origin + path)).text).toContain(text)
})

describe('what is no page', () => {
  test.each([
    [404, 'NOT_FOUND', false],
    [410, 'NOT_FOUND', false],
    [401, 'AUTH_ERROR', false],
    [403, 'AUTH_ERROR', false],
    [429, 'RATE_LIMIT', true],
    [500, 'BAD_GATEWAY', true],
    [418, 'BAD_GATEWAY', false],
  ])('status %i is told as %s', async (status, code, retryable) => {
    const { read, site } = await open({ '/': { status, body: '<p>a secret</p>' } })
    const error = await read(`${site.origin}/`).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code, retryable })
    expect(String(error)).not.toContain('secret')
  })

  test('pictures, recordings and programs are not fetched whole', async () => {
    const { read, site } = await open({
      '/i': { type: 'image/png', body: 'x' },
      '/v': { type: 'video/mp4', body: 'x' },
      '/z': { type: 'application/zip', body: 'x' },
    })
    for (const path of ['/i', '/v', '/z'])
      await expect(read(site.origin + path)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('a picture that calls itself something else is refused by its content', async () => {
    const { read, site } = await open({
      '/': { type: 'application/octet-stream', body: latin1('\x89PNG\r\n\x1a\n\0\0') },
    })
    await expect(read(site.origin)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('a page without text, or without anything', async () => {
    const { read, site } = await open({
      '/app': { body: '<html><body><div id="root"></div><script>draw()</script></body></html>' },
      '/none': {},
    })
    for (const path of ['/app', '/none'])
      await expect(read(site.origin + path)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('bounds', () => {
  test('a page larger than the limit', async () => {
    const { read, site } = await open({ '/': { body: 'x'.repeat(5_000) } }, { maxBytes: 1_000 })
    await expect(read(site.origin)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  })

  test('a site that does not answer, and a caller who no longer waits', async () => {
    const { read, site } = await open({ '/': { hangs: true } }, { timeoutMs: 50 })
    await expect(read(site.origin)).rejects.toMatchObject({ code: 'GATEWAY_TIMEOUT' })
    const stop = new AbortController()
    const reading = pageReader({ egress: egress({ allowHosts: [site.host] }), extract })(site.origin, stop)
    stop.abort(new Error('stopped'))
    await expect(reading).rejects.toThrow('stopped')
  })

  test('an address that is not public, also behind a redirect', async () => {
    const { read, site } = await open({ '/': { status: 302, headers: { location: 'http://169.254.169.254/latest/' } } })
    for (const url of [site.origin, 'http://127.0.0.1:1/', 'http://2130706433/', 'http://[::1]/', 'http://localhost/'])
      await expect(read(url)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    for (const url of ['file:///etc/passwd', 'ftp://a.example/', 'javascript:alert(1)', 'no address'])
      await expect(read(url)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})
