import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { isPublicAddress } from '@inlay/drivers/internal/http/egress-address'
import { egress, type EgressOptions } from '@inlay/drivers/egress'
import { afterEach, describe, expect, test } from 'vitest'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A local server; answers its port. */
async function serve(handle: Handler): Promise<number> {
  const server = createServer(handle)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const local = (port: number, more: Partial<EgressOptions> = {}): ReturnType<typeof egress> =>
  egress({ allowHosts: [`127.0.0.1:${port}`], ...more })

describe('a name with several addresses', () => {
  const of = (addresses: string[]) => egress({ allowHosts: ['several.test'], resolve: async () => addresses })

  test('is reached at the next one when nobody listens at the first', async () => {
    const port = await serve((request, response) => response.end(request.headers.host))
    // Nothing listens on the first two: the server is bound to 127.0.0.1 only.
    const { bytes } = await of(['::1', '127.0.0.2', '127.0.0.1'])(`http://several.test:${port}/`)
    expect(new TextDecoder().decode(bytes)).toBe(`several.test:${port}`)
  })

  test('is not reached when none accepts a connection', async () => {
    const port = await serve((_, response) => response.end())
    await expect(of(['127.0.0.2', '127.0.0.3'])(`http://several.test:${port}/`)).rejects.toMatchObject({
      code: 'BAD_GATEWAY',
    })
  })

  test('gets a request once, though the connection breaks', async () => {
    let count = 0
    const port = await serve((request) => {
      count++
      request.socket.destroy()
    })
    const post = of(['127.0.0.1', '127.0.0.1'])(`http://several.test:${port}/`, { method: 'POST', body: 'x' })
    await expect(post).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
    expect(count).toBe(1)
  })
})

describe('what is public', () => {
  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.8.8.8',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001:0:4136:e378::',
    '2001:db8::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '100::1',
    'not an address',
    '',
  ])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false))
})

describe('addresses', () => {
  test.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://localhost./',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1:8080/',
    'http://①②⑦.0.0.1/',
    'https://[fd00::1]/',
    'http://[64:ff9b::a00:1]/',
  ])('%s is refused', async (address) => {
    await expect(egress()(address)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,x',
    'javascript:1',
    'gopher://x/',
    'nonsense',
    '',
  ])('%s is not fetched', async (address) => {
    await expect(egress()(address)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('user names and passwords are refused, whatever the host', async () => {
    await expect(egress()('http://example.com@127.0.0.1/')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await expect(egress({ resolve: async () => ['8.8.8.8'] })('http://user:pass@example.com/')).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
  })

  test('a name is refused when any of its addresses is not public', async () => {
    const fetchPage = egress({ resolve: async () => ['8.8.8.8', '10.0.0.7'] })
    await expect(fetchPage('http://mixed.example/')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('the connection goes to the address that was checked, with the name as host', async () => {
    let lookups = 0
    const port = await serve((request, response) => response.end(request.headers.host))
    const fetchPage = egress({
      allowHosts: [`docs.example:${port}`],
      resolve: async () => (lookups++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']),
    })
    const answer = await fetchPage(`http://docs.example:${port}/`)
    expect(new TextDecoder().decode(answer.bytes)).toBe(`docs.example:${port}`)
    expect(lookups).toBe(1)
  })

  test('an allowed host stays bound to its port', async () => {
    const port = await serve((_, response) => response.end('ok'))
    await expect(egress({ allowHosts: ['127.0.0.1:1'] })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
  })

  test('an unknown name is a gateway failure and says nothing of the resolver', async () => {
    const fetchPage = egress({ resolve: async () => Promise.reject(new Error('ENOTFOUND secret-resolver')) })
    await expect(fetchPage('http://nowhere.example/')).rejects.toMatchObject({
      code: 'BAD_GATEWAY',
      message: 'The name of the address is not known.',
    })
  })
})

describe('an operator who names the only hosts', () => {
  const resolved: string[] = []
  const only = egress({
    onlyHosts: ['docs.example', '*.wiki.example'],
    // These tests reach no server: an allowed request ends at a private address.
    resolve: async (hostname) => (resolved.push(hostname), ['127.0.0.1']),
  })

  test.each(['docs.example', 'DOCS.example.', 'en.wiki.example', 'a.b.wiki.example'])(
    'lets %s through',
    async (host) => {
      resolved.length = 0
      await expect(only(`https://${host}/`)).rejects.toThrow('public internet')
      expect(resolved).toHaveLength(1)
    },
  )

  test.each(['wiki.example', 'evilwiki.example', 'docs.example.evil.example', 'evil.example', '93.184.216.34'])(
    'keeps %s out without resolving its name',
    async (host) => {
      resolved.length = 0
      await expect(only(`https://${host}/?leak=secret`)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
      expect(resolved).toEqual([])
    },
  )

  test('keeps others out behind a redirect, too; hosts that are allowed are among those', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(302, { location: 'https://evil.example/?leak=secret' }).end()
    })
    const error = await local(port, { onlyHosts: ['docs.example'] })(`http://127.0.0.1:${port}/`).catch(String)
    expect(error).toContain('not among those that the operator opened')
  })
})

describe('redirects', () => {
  test('one into a private range is refused', async () => {
    const port = await serve((_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end())
    await expect(local(port)(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('one to another scheme is refused', async () => {
    const port = await serve((_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end())
    await expect(local(port)(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('a chain is followed to its end, and a loop is given up', async () => {
    const port = await serve((request, response) => {
      const step = Number(request.url?.slice(1))
      if (request.url === '/loop') response.writeHead(307, { location: '/loop' }).end()
      else if (step < 4) response.writeHead(301, { location: `/${step + 1}` }).end()
      else response.end('arrived')
    })
    const answer = await local(port)(`http://127.0.0.1:${port}/0`)
    expect(answer.url).toBe(`http://127.0.0.1:${port}/4`)
    expect(new TextDecoder().decode(answer.bytes)).toBe('arrived')
    await expect(local(port)(`http://127.0.0.1:${port}/loop`)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('credentials do not go along to another origin, and stay within one', async () => {
    const seen: Record<string, unknown>[] = []
    const second = await serve((request, response) => {
      seen.push(request.headers)
      response.end()
    })
    const first = await serve((request, response) => {
      seen.push(request.headers)
      const location = request.url === '/away' ? `http://127.0.0.1:${second}/` : request.url === '/near' ? '/here' : ''
      if (location) response.writeHead(302, { location }).end()
      else response.end()
    })
    const fetchPage = egress({ allowHosts: ['127.0.0.1'] })
    const headers = { Authorization: 'Bearer secret', Cookie: 'a=b', 'X-House-Key': 'secret', 'Accept-Language': 'ga' }
    await fetchPage(`http://127.0.0.1:${first}/away`, { headers })
    expect(seen[0]).toMatchObject({ authorization: 'Bearer secret' })
    expect(seen[1]).toMatchObject({ 'accept-language': 'ga' })
    expect(seen[1]).not.toHaveProperty('x-house-key')
    expect(seen[1]).not.toHaveProperty('authorization')
    expect(seen[1]).not.toHaveProperty('cookie')
    await fetchPage(`http://127.0.0.1:${first}/near`, { headers })
    expect(seen[3]).toMatchObject({ authorization: 'Bearer secret', 'x-house-key': 'secret' })
  })

  test('a POST becomes a GET after 303 and stays a POST after 307', async () => {
    const seen: string[] = []
    const port = await serve((request, response) => {
      let body = ''
      request.on('data', (part) => (body += part))
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${body}`)
        if (request.url === '/303') response.writeHead(303, { location: '/end' }).end()
        else if (request.url === '/307') response.writeHead(307, { location: '/end' }).end()
        else response.end()
      })
    })
    await local(port)(`http://127.0.0.1:${port}/303`, { method: 'POST', body: 'x' })
    await local(port)(`http://127.0.0.1:${port}/307`, { method: 'POST', body: 'x' })
    expect(seen).toEqual(['POST /303 x', 'GET /end ', 'POST /307 x', 'POST /end x'])
  })
})

test('what is sent goes to no other host by a redirect, and follows it without what was sent', async () => {
  const seen: string[] = []
  const second = await serve((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => response.end())
  })
  const first = await serve((request, response) => {
    request
      .resume()
      .on('end', () =>
        response
          .writeHead(Number(request.url?.slice(1)), { location: `http://127.0.0.1:${second}${request.url}` })
          .end(),
      )
  })
  const send = async (status: number) =>
    egress({ allowHosts: ['127.0.0.1'] })(`http://127.0.0.1:${first}/${status}`, { method: 'POST', body: 'secret' })
  for (const status of [307, 308]) await expect(send(status)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect((await send(303)).status).toBe(200)
  expect(seen).toEqual(['GET /303'])
})

describe('limits', () => {
  test('a body that unpacks beyond the limit is given up', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const port = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    await expect(local(port, { maxBytes: 1_000_000 })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    })
  })

  test('an endless body is given up at the limit', async () => {
    const port = await serve((_, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', write)
      }
      write()
    })
    await expect(local(port, { maxBytes: 1_000_000 })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    })
  })

  test('a gzip body is unpacked', async () => {
    const port = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('Grüße')),
    )
    const answer = await local(port)(`http://127.0.0.1:${port}/`)
    expect(new TextDecoder().decode(answer.bytes)).toBe('Grüße')
  })

  test('a broken or unknown encoding, and a cut body, are gateway failures', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/broken') response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip')
      else if (request.url === '/unknown') response.writeHead(200, { 'content-encoding': 'compress' }).end('x')
      else {
        response.writeHead(200, { 'content-length': '100' }).write('half')
        setImmediate(() => response.destroy())
      }
    })
    for (const path of ['broken', 'unknown', 'cut'])
      await expect(local(port)(`http://127.0.0.1:${port}/${path}`)).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })

  test('an answer that switches protocols is a gateway failure', async () => {
    const port = await serve((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    })
    await expect(local(port)(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'BAD_GATEWAY',
      cause: { code: 'ECONNRESET' },
    })
  })

  test('a silent server, a slow body and a hanging resolver end at the time limit', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/slow') response.writeHead(200).write('x')
    })
    for (const path of ['silent', 'slow'])
      await expect(local(port, { timeoutMs: 50 })(`http://127.0.0.1:${port}/${path}`)).rejects.toMatchObject({
        code: 'GATEWAY_TIMEOUT',
      })
    const hanging = egress({ timeoutMs: 50, resolve: () => new Promise<never>(() => {}) })
    await expect(hanging('http://hanging.example/')).rejects.toMatchObject({ code: 'GATEWAY_TIMEOUT' })
  })

  test("the caller's abort ends the request with the caller's reason", async () => {
    const port = await serve(() => {})
    const aborter = new AbortController()
    const pending = local(port)(`http://127.0.0.1:${port}/`, { signal: aborter.signal })
    aborter.abort(new Error('enough'))
    await expect(pending).rejects.toThrow('enough')
  })

  test('other kinds of content than asked for are refused before the body is read', async () => {
    const port = await serve((_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x'))
    await expect(local(port)(`http://127.0.0.1:${port}/`, { mediaTypes: ['text/'] })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
  })

  test('a refused connection is a gateway failure without the address in its message', async () => {
    const port = await serve(() => {})
    closers.splice(0).forEach((close) => close())
    await expect(local(port)(`http://127.0.0.1:${port}/`)).rejects.toSatisfy(
      (error) => (error as { code: string }).code === 'BAD_GATEWAY' && !String(error).includes('127.0.0.1'),
    )
  })
})
