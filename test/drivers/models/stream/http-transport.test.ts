import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { httpTransport } from '@inlay/drivers/internal/models/stream/http-transport'
import type { BodySource, TransportAnswer } from '@inlay/drivers/internal/models/stream/transport'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  // A listening TCP server has an address of this form.
  return (server.address() as AddressInfo).port
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(listener))}`

const transport = httpTransport({ idleTimeoutMs: 10_000 })
const post = (url: string, more: Partial<Parameters<typeof transport>[0]> = {}) =>
  transport({ url, method: 'POST', headers: { authorization: 'Bearer k' }, body: '{"a":"ä"}', ...more })

/** Reads a body to its end. */
function textOf(answer: TransportAnswer): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  return new Promise((resolve, reject) => {
    answer.read({
      push: (bytes) => void (text += decoder.decode(bytes, { stream: true })),
      end: () => resolve(text),
      fail: reject,
    })
  })
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  request.setEncoding('utf8')
  for await (const piece of request) text += piece
  return text
}

const echo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { method, url, headers } = request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method, url, headers, body: await bodyOf(request) }))
}

describe('a request', () => {
  test('arrives as it was given and brings status, headers and body back', async () => {
    const origin = await serve((request, response) => {
      response.statusCode = 429
      response.setHeader('retry-after', '3')
      void echo(request, response)
    })
    const answer = await post(`${origin}/v1/x?q=1`)
    expect(answer).toMatchObject({ status: 429, statusText: 'Too Many Requests' })
    expect(answer.headers.get('retry-after')).toBe('3')
    expect(JSON.parse(await textOf(answer))).toMatchObject({
      method: 'POST',
      url: '/v1/x?q=1',
      headers: { authorization: 'Bearer k', 'content-length': '10' },
      body: '{"a":"ä"}',
    })
  })

  test('goes over the connection of the one before', async () => {
    const ports = new Set<number | undefined>()
    const origin = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('x')
    })
    for (let at = 0; at < 3; at++) {
      await textOf(await post(origin))
      // The connection is free a turn after its answer has ended.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(ports.size).toBe(1)
  })

  test('is sent once more when the kept connection turns out to be closed, but never twice over a new one', async () => {
    let seen = 0
    let resetsAll = false
    const served = new WeakSet<object>()
    const origin = await serve((request, response) => {
      seen++
      if (served.has(request.socket) || resetsAll) return void request.socket.destroy()
      served.add(request.socket)
      response.end(`answer ${seen}`)
    })
    expect(await textOf(await post(origin))).toBe('answer 1')
    await new Promise((resolve) => setImmediate(resolve))
    expect(await textOf(await post(origin))).toBe('answer 3')
    resetsAll = true
    await expect(post(origin)).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } })
    expect(seen).toBeLessThanOrEqual(5)
  })

  test('that nobody takes fails as it does with fetch', async () => {
    const origin = await serve(() => {})
    const server = servers.pop()
    server?.close()
    await expect(post(origin)).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ECONNREFUSED' } })
  })
})

describe('compressed answers are unpacked', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('%s', async (coding, compress) => {
    const origin = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(compress('größer'.repeat(100)))
    })
    expect(await textOf(await post(origin))).toBe('größer'.repeat(100))
  })

  test('as they arrive', async () => {
    let finish = (): void => {}
    const origin = await serve((_, response) => {
      const gzip = createGzip()
      response.writeHead(200, { 'content-encoding': 'gzip' })
      gzip.pipe(response)
      gzip.write('first')
      gzip.flush()
      finish = () => gzip.end('last')
    })
    const answer = await post(origin)
    const pieces: string[] = []
    await new Promise<void>((resolve, reject) => {
      answer.read({
        push: (bytes) => {
          // The end is sent only once the beginning has come out.
          if (pieces.push(new TextDecoder().decode(bytes)) === 1) finish()
        },
        end: resolve,
        fail: reject,
      })
    })
    expect(pieces).toEqual(['first', 'last'])
  })

  test('and fail when they are cut', async () => {
    const whole = gzipSync('x'.repeat(50_000))
    const origin = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': whole.length })
      response.write(whole.subarray(0, 30), () => response.destroy())
    })
    await expect(textOf(await post(origin))).rejects.toMatchObject({ message: 'terminated' })
  })
})

describe('https', () => {
  const folder = new URL('fixtures/', import.meta.url)
  const [key, cert] = ['localhost.key', 'localhost.crt'].map((name) => readFileSync(new URL(name, folder), 'utf8'))

  test('is spoken, to servers whose certificate is trusted', async () => {
    const port = await listen(createSecureServer({ key, cert }, (request, response) => void echo(request, response)))
    await expect(post(`https://localhost:${port}/a`)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    })
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, cert ?? ''])
    try {
      const answer = await httpTransport({ idleTimeoutMs: 10_000 })({
        url: `https://localhost:${port}/a`,
        method: 'POST',
        headers: {},
        body: 'b',
      })
      expect(JSON.parse(await textOf(answer))).toMatchObject({ url: '/a', body: 'b' })
    } finally {
      setDefaultCACertificates(trusted)
    }
  })
})

describe('what does not come to its end', () => {
  /** Answers with a beginning and goes on no further. */
  const hanging = async (): Promise<{ origin: string; left: Promise<unknown> }> => {
    const { promise: left, resolve } = Promise.withResolvers<unknown>()
    const origin = await serve((_, response) => {
      response.on('close', () => resolve(undefined))
      response.write('begun')
    })
    return { origin, left }
  }

  test('an abort ends the request and closes the connection, before the answer and in its middle', async () => {
    const silent = await serve(() => {})
    const before = new AbortController()
    const pending = post(silent, { signal: before.signal })
    setImmediate(() => before.abort(new Error('no more')))
    await expect(pending).rejects.toThrow('no more')

    const { origin, left } = await hanging()
    const middle = new AbortController()
    const reading = textOf(await post(origin, { signal: middle.signal }))
    middle.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    await left
    await expect(post(origin, { signal: middle.signal })).rejects.toThrow('enough')
  })

  test('a reader that leaves closes the connection', async () => {
    const { origin, left } = await hanging()
    const answer = await post(origin)
    const source: BodySource = answer.read({
      push: () => source.cancel(),
      end: () => expect.unreachable(),
      fail: () => expect.unreachable(),
    })
    await left
  })

  test('silence ends it as a time-out', async () => {
    const impatient = httpTransport({ idleTimeoutMs: 30 })
    const pending = impatient({ url: await serve(() => {}), method: 'POST', headers: {}, body: '' })
    await expect(pending).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'ETIMEDOUT' } })

    // Long enough for a slow machine to begin an answer.
    const patient = httpTransport({ firstTokenTimeoutMs: 1_000, idleTimeoutMs: 1_000 })
    const answer = await patient({ url: (await hanging()).origin, method: 'POST', headers: {}, body: '' })
    await expect(textOf(answer)).rejects.toMatchObject({ message: 'terminated', cause: { code: 'ETIMEDOUT' } })
  })

  test('the beginning of an answer may take longer than the silences in it', async () => {
    const patient = httpTransport({ firstTokenTimeoutMs: 60_000, idleTimeoutMs: 1 })
    const begun = Promise.withResolvers<void>()
    const origin = await serve(async (_, response) => {
      // No request is answered within a millisecond after so many turns of the event loop.
      for (let turns = 0; turns < 1_000; turns++) await new Promise((resolve) => setImmediate(resolve))
      response.write('one')
      await begun.promise
      response.write('two')
    })
    const answer = await patient({ url: origin, method: 'POST', headers: {}, body: '' })
    const texts: string[] = []
    const failure = await new Promise((resolve) => {
      answer.read({
        push: (bytes) => {
          texts.push(new TextDecoder().decode(bytes))
          begun.resolve()
        },
        end: () => expect.unreachable(),
        fail: resolve,
      })
    })
    expect(texts).toEqual(['one', 'two'])
    expect(failure).toMatchObject({ message: 'terminated', cause: { code: 'ETIMEDOUT' } })
  })

  test('a cut connection fails, with and without a length', async () => {
    for (const headers of [{}, { 'content-length': 1000 }]) {
      const origin = await serve((_, response) => {
        response.writeHead(200, headers)
        response.write('begun', () => setImmediate(() => response.destroy()))
      })
      await expect(textOf(await post(origin))).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' })
    }
  })
})

test('an answer that switches protocols fails', async () => {
  const url = await serve((request) => {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  })
  await expect(post(url)).rejects.toThrow('fetch failed')
})

test('a sender has to wait while its reader is paused', async () => {
  const size = 50_000_000
  let response: ServerResponse | undefined
  const origin = await serve((_, opened) => void (response = opened).end(Buffer.alloc(size)))
  const answer = await post(origin)
  let received = 0
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const source = answer.read({ push: (bytes) => void (received += bytes.length), end: resolve, fail: reject })
  source.pause()
  await expect.poll(() => response?.writableLength ?? 0).toBeGreaterThan(size / 4)
  const atPause = received
  for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next))
  expect(received).toBe(atPause)
  source.resume()
  await ended
  expect(received).toBe(size)
})

test('megabytes that come at once are read in turns of the event loop', async () => {
  const bytes = 4 * 2 ** 20
  const answer = await post(await serve((_, response) => response.end(Buffer.alloc(bytes, 'a'))))
  let [inTurn, most, all] = [0, 0, 0]
  let isOver = false
  const next = (): void => {
    most = Math.max(most, inTurn)
    inTurn = 0
    if (!isOver) setImmediate(next)
  }
  next()
  await new Promise<void>((resolve, reject) => {
    const push = ({ byteLength }: Uint8Array): void => {
      all += byteLength
      inTurn += byteLength
    }
    answer.read({ push, end: resolve, fail: reject })
  })
  isOver = true
  next()
  expect(all).toBe(bytes)
  expect(most).toBeLessThanOrEqual(262_144)
})

test('chunks that arrive at once are read at once, and all before the end or the cut of the answer', async () => {
  const said = Array.from({ length: 50 }, (_, index) => `piece ${index};`)
  const chunks = said.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('')
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const port = await listen(
    createTcpServer((socket) => {
      socket.once('data', (request) => {
        const isWhole = request.includes('/whole')
        socket.end(head + chunks + (isWhole ? '0\r\n\r\n' : ''))
      })
    }),
  )
  for (const [path, ending] of [
    ['/whole', 'end'],
    ['/cut', 'fail'],
  ]) {
    const answer = await post(`http://127.0.0.1:${port}${path}`)
    const events = await new Promise<string[]>((resolve) => {
      const seen: string[] = []
      answer.read({
        push: (bytes) => void seen.push(new TextDecoder().decode(bytes)),
        end: () => resolve([...seen, 'end']),
        fail: () => resolve([...seen, 'fail']),
      })
    })
    expect(events.at(-1)).toBe(ending)
    expect(events.slice(0, -1).join('')).toBe(said.join(''))
    // Each chunk by itself would be fifty.
    expect(events.length).toBeLessThan(10)
  }
})
