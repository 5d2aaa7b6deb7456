import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { httpReranker } from '@inlay/drivers/http-reranker'
import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import { openaiImages } from '@inlay/drivers/openai-images'
import { toFailure } from '@inlay/agent/internal/model/failures'
import { aiSdkModels } from '@inlay/drivers/internal/models/ai-sdk'
import { httpTransport } from '@inlay/drivers/internal/models/stream/http-transport'
import { followSameHost } from '@inlay/drivers/internal/models/stream/same-host-redirects'
import {
  fetchTransport,
  type Transport,
  type TransportAnswer,
  type TransportRequest,
} from '@inlay/drivers/internal/models/stream/transport'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that redirects what comes to `/from…`, and keeps what it got. */
async function serve(status = 200, location = ''): Promise<{ origin: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ method: request.method, url: request.url, headers: request.headers, body })
    if (request.url?.startsWith('/from')) response.writeHead(status, { location }).end('moved')
    else response.end('arrived')
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  // A listening TCP server has an address of this form.
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

function textOf(answer: TransportAnswer): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  return new Promise((resolve, reject) => {
    answer.read({ push: (bytes) => (text += decoder.decode(bytes)), end: () => resolve(text), fail: reject })
  })
}

const request = (url: string): TransportRequest => ({
  url,
  method: 'POST',
  headers: { authorization: 'Bearer secret-key', 'content-type': 'application/json' },
  body: '{"prompt":"private"}',
})

const transports: readonly (readonly [string, Transport])[] = [
  ['connections of our own', followSameHost(httpTransport({ idleTimeoutMs: 10_000 }))],
  ['fetch', followSameHost(fetchTransport(fetch))],
]

describe.each(transports)('a redirect over %s', (_, transport) => {
  test.each([307, 308])('%i to the same host repeats the request with its key', async (status) => {
    const { origin, received } = await serve(status, '/to')
    expect(await textOf(await transport(request(`${origin}/from`)))).toBe('arrived')
    expect(received[1]).toMatchObject({
      method: 'POST',
      url: '/to',
      body: '{"prompt":"private"}',
      headers: { authorization: 'Bearer secret-key' },
    })
  })

  test.each([301, 302, 303])('%i to the same host asks without a body', async (status) => {
    const { origin, received } = await serve(status, '/to')
    await textOf(await transport(request(`${origin}/from`)))
    expect(received[1]).toMatchObject({ method: 'GET', url: '/to', body: '' })
  })

  test.each([301, 302, 303, 307, 308])('%i to another host is not followed', async (status) => {
    const other = await serve()
    const { origin } = await serve(status, `${other.origin}/to?token=t`)
    const answer = await transport(request(`${origin}/from`))
    expect(answer.status).toBe(status)
    const text = await textOf(answer)
    expect(text).toContain(`redirects to ${other.origin},`)
    expect(text).not.toContain('token')
    expect(other.received).toEqual([])
  })

  test.each(['http://user:pass@HOST/to', 'ftp://HOST/to', 'http://[broken'])('to %s is not followed', async (to) => {
    const { origin, received } = await serve()
    const { origin: from } = await serve(307, to.replace('HOST', new URL(origin).host))
    expect((await transport(request(`${from}/from`))).status).toBe(307)
    expect(received).toEqual([])
  })

  test('that never ends fails', async () => {
    const { origin, received } = await serve(307, '/from')
    await expect(transport(request(`${origin}/from`))).rejects.toMatchObject({ message: 'fetch failed' })
    expect(received.length).toBeLessThan(10)
  })
})

test.each([
  ['http://model.example/v1', 'https://model.example/v1', true],
  ['https://model.example/v1', 'http://model.example/v1', false],
  ['http://model.example/v1', 'https://model.example:8443/v1', false],
  ['http://model.example:8080/v1', 'http://model.example:9090/v1', false],
  ['https://model.example/v1', 'https://api.model.example/v1', false],
  ['https://model.example/v1', '//evil.example/v1', false],
])('from %s to %s: followed %s, with the key', async (from, location, isFollowed) => {
  const sent: TransportRequest[] = []
  const transport = followSameHost(async (next) => {
    sent.push(next)
    const headers = new Headers(sent.length === 1 ? { location } : {})
    return { status: sent.length === 1 ? 308 : 200, statusText: '', headers, read: () => idle }
  })
  await transport(request(from))
  expect(sent.map(({ url }) => url)).toEqual(isFollowed ? [from, location] : [from])
  expect(sent.at(-1)?.headers).toMatchObject({ authorization: 'Bearer secret-key' })
})

const idle = { pause: () => {}, resume: () => {}, cancel: () => {} }

test.each(['openai', 'openai-compatible', 'anthropic'] as const)(
  'a model of %s that redirects elsewhere fails, and nothing of the prompt arrives there',
  async (type) => {
    const other = await serve()
    const { origin } = await serve(307, `${other.origin}/v1`)
    const model = aiSdkModels({ type, name: 'own', baseUrl: `${origin}/from`, apiKey: 'secret-key' })('m-1')
    const error: unknown = await model
      .doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'private' }] }] })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
    expect(other.received).toEqual([])
    expect(toFailure(error).code).toBe('API_ERROR')
    expect(String(Reflect.get(Object(error), 'responseBody'))).toContain(other.origin)
  },
)

interface Service {
  readonly baseUrl: string
  readonly apiKey: string
}

test.each([
  [
    'an embedding service',
    (service: Service) =>
      openaiEmbedder({ ...service, model: 'm', dimensions: 3, attempts: 1 }).embed(['private'], 'query'),
  ],
  [
    'a reranking service',
    (service: Service) =>
      httpReranker({ ...service, protocol: 'jina', model: 'm', attempts: 1 }).rerank('q', ['private']),
  ],
  [
    'an image service',
    (service: Service) =>
      openaiImages({ ...service, model: 'm', attempts: 1 })({ prompt: 'private', shape: 'square', references: [] }),
  ],
])('%s is not followed elsewhere', async (_, call) => {
  const other = await serve()
  const { origin } = await serve(307, `${other.origin}/v1`)
  await expect(call({ baseUrl: `${origin}/from`, apiKey: 'secret-key' })).rejects.toMatchObject({
    message: expect.stringContaining('set the base URL'),
  })
  expect(other.received).toEqual([])
})
