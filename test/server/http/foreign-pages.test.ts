import { createInlay, type InlayOptions } from 'inlay'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

const host = 'https://chat.example'
const listed = 'https://app.example'
const cookie = 'session=ann'
const json = { 'content-type': 'application/json' }

/** An assistant that signs people in by a cookie, as many hosts do. */
function open(options: InlayOptions = {}) {
  const folder = temporaryFolder()
  const inlay = createInlay({
    dataFolder: folder.path,
    corsOrigins: [listed],
    authenticate: ({ headers }) =>
      /session=ann/.test(headers.get('cookie') ?? '') ? { id: 'ann', scopes: ['admin'] } : null,
    ...options,
  })
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  return inlay
}

/** Creates a session, or reads memories, and returns the status. */
function sender(inlay = open()) {
  return async (headers: Record<string, string>, { method = 'POST', base = host, body = '{}' } = {}) => {
    const path = method === 'GET' ? '/user/memories' : '/chat/create-chat-session'
    const request = new Request(`${base}/api${path}`, { method, headers, ...(method !== 'GET' && { body }) })
    return (await inlay.fetch(request)).status
  }
}

describe('a request that a browser signs in by itself', () => {
  test.each<[what: string, status: number, headers: Record<string, string>, base?: string]>([
    ['of a page of the host', 200, { 'sec-fetch-site': 'same-origin', origin: host }],
    ['of a page of the host, without an Origin', 200, { 'sec-fetch-site': 'same-origin' }],
    [
      'of a page behind a proxy that names another host',
      200,
      { 'sec-fetch-site': 'same-origin', origin: 'https://a.b' },
    ],
    ['of the person alone', 200, { 'sec-fetch-site': 'none' }],
    ['of an extension', 403, { 'sec-fetch-site': 'none', origin: 'chrome-extension://abcdef' }],
    ['of another site', 403, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['of another site, without an Origin', 403, { 'sec-fetch-site': 'cross-site' }],
    ['of a listed site', 200, { 'sec-fetch-site': 'cross-site', origin: listed }],
    ['of a sibling subdomain', 403, { 'sec-fetch-site': 'same-site', origin: 'https://blog.example' }],
    ['of a sibling subdomain, without an Origin', 403, { 'sec-fetch-site': 'same-site' }],
    ['of a page by http of the same host', 403, { 'sec-fetch-site': 'cross-site', origin: 'http://chat.example' }],
    ['of a page that hides its origin', 403, { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    ['of a sandboxed frame', 403, { 'sec-fetch-site': 'cross-site', origin: 'null' }],
    ['of a value of Sec-Fetch-Site that nobody knows', 403, { 'sec-fetch-site': 'else', origin: host }],
    ['of an older browser, own page', 200, { origin: host }],
    ['of an older browser, listed page', 200, { origin: listed }],
    ['of an older browser, foreign page', 403, { origin: 'https://evil.example' }],
    ['of an older browser, sibling page', 403, { origin: 'https://blog.chat.example' }],
    ['of an older browser, other port', 403, { origin: 'https://chat.example:8443' }],
    ['of an older browser, by http', 403, { origin: 'http://chat.example' }],
    ['of an older browser, sandboxed', 403, { origin: 'null' }],
    ['of an older browser, no URL', 403, { origin: 'chat.example' }],
    ['by plain http, own page', 200, { origin: 'http://chat.example:8080' }, 'http://chat.example:8080'],
    ['by plain http, foreign page', 403, { origin: 'http://evil.example:8080' }, 'http://chat.example:8080'],
    ['by plain http, behind a proxy that ends TLS', 200, { origin: host }, 'http://chat.example'],
    ['by plain http, where the proxy keeps Host', 200, { origin: host, host: 'chat.example' }, 'http://10.0.0.1:3000'],
    ['of an older browser that sends Referer alone, own page', 200, { referer: `${host}/a?b` }],
    ['of an older browser that sends Referer alone, listed page', 200, { referer: `${listed}/a` }],
    ['of an older browser that sends Referer alone, foreign page', 403, { referer: 'https://evil.example/a' }],
    ['of an older browser that sends Referer alone, lookalike', 403, { referer: 'https://chat.example@evil.example/' }],
    ['of an older browser that sends Referer alone, no URL', 403, { referer: 'chat.example' }],
    ['of another scheme with the name of the host', 403, { origin: 'app://chat.example' }, 'http://chat.example'],
    ['of no browser at all', 200, {}],
  ])('%s: %i', async (_what, status, headers, base) => {
    expect(await sender()({ cookie, ...json, ...headers }, base ? { base } : {})).toBe(status)
  })

  test('is refused with the media type of a form, whoever sends it', async () => {
    const send = sender()
    for (const type of [
      'text/plain',
      'Text/Plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ])
      for (const origin of [{}, { origin: host }, { origin: listed, 'sec-fetch-site': 'cross-site' }] as Record<
        string,
        string
      >[])
        expect(await send({ cookie, ...origin, 'content-type': type })).toBe(415)
  })

  test('takes forms where files are uploaded, of its own pages alone', async () => {
    const inlay = open()
    const upload = async (origin: string) => {
      const body = new FormData()
      body.append('files', new File(['text'], 'a.txt', { type: 'text/plain' }))
      const request = new Request(`${host}/api/user/file/upload`, { method: 'POST', headers: { cookie, origin }, body })
      return (await inlay.fetch(request)).status
    }
    expect(await upload(host)).toBe(200)
    expect(await upload('https://evil.example')).toBe(403)
  })

  test('is not let in by corsOrigins that list everybody', async () => {
    const send = sender(open({ corsOrigins: '*' }))
    expect(await send({ cookie, ...json, origin: 'https://evil.example' })).toBe(403)
  })

  test('may read: the answer stays with the browser', async () => {
    expect(await sender()({ cookie, origin: 'https://evil.example' }, { method: 'GET' })).toBe(200)
  })

  test('is known by Basic credentials, a certificate or an address as well', async () => {
    const inlay = open({ authenticate: () => ({ id: 'ann', scopes: ['admin'] }) })
    const send = sender(inlay)
    expect(await send({ ...json, origin: 'https://evil.example' })).toBe(403)
    expect(await send({ ...json, origin: 'https://evil.example', authorization: 'Basic YTpi' })).toBe(403)
    expect(await send({ ...json, origin: host })).toBe(200)
    const request = new Request(`${host}/api/chat/create-chat-session`, {
      method: 'POST',
      headers: { ...json, origin: 'https://evil.example' },
      body: '{}',
    })
    expect((await open().fetch(request, { principal: { id: 'ben', scopes: ['chat'] } })).status).toBe(403)
  })

  test('is told apart from one without a sign-in, which is 401', async () => {
    expect(await sender()({ ...json, origin: 'https://evil.example' })).toBe(401)
  })

  test.each(['PUT', 'PATCH', 'DELETE'])('is refused to %s as well', async (method) => {
    const inlay = open()
    const path =
      method === 'DELETE' ? '/admin/api-key/1' : method === 'PUT' ? '/chat/rename-chat-session' : '/admin/limits'
    const headers = { cookie, ...json, origin: 'https://evil.example' }
    const request = new Request(`${host}/api${path}`, { method, headers, body: '{}' })
    expect((await inlay.fetch(request)).status).toBe(403)
  })
})

test('a key works from any page and any program, with any media type', async () => {
  const inlay = open()
  const { key } = await inlay.keys.create({ scopes: ['chat'] })
  const send = sender(inlay)
  const authorization = `Bearer ${key}`
  for (const headers of [
    {},
    { 'content-type': 'application/x-www-form-urlencoded' },
    { origin: 'https://evil.example' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', 'content-type': 'text/plain' },
  ] as Record<string, string>[])
    expect(await send({ authorization, ...headers })).toBe(200)
})

describe('a Bearer key beside a sign-in', () => {
  const foreign = { ...json, origin: 'https://evil.example' }

  test('does not let a foreign page in when the cookie identified the caller, whatever the key says', async () => {
    const inlay = open()
    const { key } = await inlay.keys.create({ scopes: ['chat'] })
    for (const authorization of ['Bearer x', 'bearer  abc', `Bearer ${key}`])
      expect(await sender(inlay)({ ...foreign, cookie, authorization })).toBe(403)
    expect(await sender(inlay)({ ...foreign, authorization: `Bearer ${key}` })).toBe(200)
  })

  test('does not let a foreign page in when the host identified the caller by its own means', async () => {
    const request = new Request(`${host}/api/chat/create-chat-session`, {
      method: 'POST',
      headers: { ...foreign, authorization: 'Bearer x' },
      body: '{}',
    })
    expect((await open().fetch(request, { principal: { id: 'ben', scopes: ['chat'] } })).status).toBe(403)
  })

  test('lets a foreign page in when only the key makes the caller more than a guest', async () => {
    const inlay = open({
      authenticate: ({ headers }) =>
        headers.get('authorization') === 'Bearer k'
          ? { id: 'service', scopes: ['chat'] }
          : { id: 'guest', scopes: ['chat'] },
    })
    expect(await sender(inlay)({ ...foreign, authorization: 'Bearer k' })).toBe(200)
    expect(await sender(inlay)({ ...foreign, authorization: 'Bearer x' })).toBe(403)
  })

  test('counts as the credential where `authenticate` fails without one', async () => {
    const inlay = open({
      authenticate({ headers }) {
        if (!headers.has('authorization')) throw new TypeError('no header')
        return { id: 'ann', scopes: ['chat'] }
      },
    })
    expect(await sender(inlay)({ ...foreign, authorization: 'Bearer k' })).toBe(200)
  })
})
