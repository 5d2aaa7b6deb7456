import { request as nodeRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createLineDecoder, toUserId, type StreamLine } from '@inlay/protocol'
import { aDocument, delta, sessionId, setup, stop, wholeAnswer, type Setup } from '../server/fakes.ts'
import { nodeListener } from 'inlay'
import { fastifyPlugin } from 'inlay/fastify'
import { koaMiddleware } from 'inlay/koa'
import { routeHandlers } from 'inlay/next'
import {
  expressWithFormParserAhead,
  expressWithParserAhead,
  expressWithSignIn,
  mounts,
  startHost,
  type Host,
} from './hosts.ts'

const ids: StreamLine = { user_message_id: 1, reserved_assistant_message_id: 2 }
const open: Host[] = []

async function mounted(
  mount: (typeof mounts)[number][1],
  options: Parameters<typeof setup>[0] = {},
): Promise<Setup & { host: Host; call(path: string, init?: RequestInit & { key?: string }): Promise<Response> }> {
  const all = setup({ basePath: '/assistant/api', ...options })
  const host = await startHost(mount, all.server.fetch)
  open.push(host)
  return {
    ...all,
    host,
    call: (path, { key = 'key-alice', ...init } = {}) => {
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${key}`)
      return fetch(host.base + path, { ...init, headers })
    },
  }
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()))
})

const message = { method: 'POST', body: JSON.stringify({ message: 'Hi' }) }

describe.each(mounts)('set into %s', (_, mount) => {
  test('the API answers below the mount, the host beside it', async () => {
    const { host, call } = await mounted(mount)
    expect(await (await call('/health')).json()).toMatchObject({ success: true })
    expect(await (await fetch(`${host.origin}/own`)).text()).toBe('own page')
  })

  test('a whole answer and a document go through', async () => {
    const { call, knowledge } = await mounted(mount)
    const whole = await call('/chat/send-chat-message', { method: 'POST', body: '{"message":"Hi","stream":false}' })
    expect(await whole.json()).toEqual(wholeAnswer)
    const accepted = await call('/service-api/ingestion', {
      key: 'key-importer',
      method: 'POST',
      body: JSON.stringify(aDocument('a/ä b', 'text '.repeat(50_000))),
    })
    expect(await accepted.json()).toMatchObject({ document_id: 'a/ä b' })
    const state = await call(`/service-api/ingestion/${encodeURIComponent('a/ä b')}`, { key: 'key-importer' })
    expect(await state.json()).toMatchObject({ document_id: 'a/ä b' })
    expect(knowledge.accepted.size).toBe(1)
  })

  test('errors keep their status and body, whatever the host does with errors', async () => {
    const { call, knowledge } = await mounted(mount)
    knowledge.before = () => {
      throw new Error('unexpected')
    }
    const failing = await call('/service-api/ingestion', {
      key: 'key-importer',
      method: 'POST',
      body: JSON.stringify(aDocument('a')),
    })
    expect([failing.status, await failing.json()]).toMatchObject([500, { error_code: 'INTERNAL_ERROR' }])
    const wrong = await call('/chat/send-chat-message', { method: 'POST', body: '{}' })
    expect([wrong.status, await wrong.json()]).toMatchObject([422, { detail: [{ loc: ['body', 'message'] }] }])
    const unknown = await call('/no/such/thing')
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error_code: 'NOT_FOUND' }])
    const foreign = await call('/chat/send-chat-message', { ...message, key: 'nobodys' })
    expect([foreign.status, foreign.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')])
  })

  test('a stream arrives as it is said', async () => {
    const { call, agent } = await mounted(mount)
    const response = await call('/chat/send-chat-message', message)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reader = response.body!.getReader()
    const decoder = createLineDecoder()
    const next = async (): Promise<StreamLine[]> => decoder.push((await reader.read()).value!).map(({ line }) => line)
    agent.run.say(ids)
    expect(await next()).toEqual([ids])
    agent.run.say(delta('one'))
    expect(await next()).toEqual([delta('one')])
    agent.run.say(stop)
    agent.run.end()
    expect(await next()).toEqual([stop])
    expect((await reader.read()).done).toBe(true)
  })

  test('a client that leaves ends its stream; the run goes on and can be resumed', async () => {
    const { call, agent, errors } = await mounted(mount)
    const leaving = new AbortController()
    const response = await call('/chat/send-chat-message', { ...message, signal: leaving.signal })
    agent.run.say(ids)
    await response.body!.getReader().read()
    expect(agent.run.readers).toBe(1)
    leaving.abort()
    await expect.poll(() => agent.run.readers).toBe(0)
    expect([agent.run.finished, agent.stopped]).toEqual([false, []])
    agent.run.say(delta('meanwhile'), stop)
    agent.run.end()
    const resumed = await (await call(`/chat/chat-session/${sessionId}/resume-stream?cursor=1`)).text()
    expect(resumed).toMatch(/^id: 2\n.*meanwhile.*\n\nid: 3\n.*stop/)
    expect(errors).toEqual([])
  })

  test('a client that does not read holds no more than a chunk', async () => {
    const { host, agent } = await mounted(mount)
    let pulls = 0
    const read = agent.run.read.bind(agent.run)
    agent.run.read = async function* (...args) {
      for await (const entries of read(...args)) {
        pulls++
        yield entries
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const request = nodeRequest(`${host.base}/chat/send-chat-message`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-alice' },
    })
    const response = await new Promise<NodeJS.ReadableStream>((resolve) => {
      request.on('response', resolve)
      request.end(message.body)
    })
    response.pause()
    const line = delta('x'.repeat(60_000))
    const lines = 1000
    for (let said = 0; said < lines; said++) {
      agent.run.say(line)
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Bounded by the socket buffers of the kernel; a server without backpressure would pull after every line.
    expect(pulls).toBeLessThan(lines / 2)
    request.destroy()
    await expect.poll(() => agent.run.readers).toBe(0)
  })

  test('a file is taken in while its client waits, and the connection is good for more', async () => {
    const { call, knowledge } = await mounted(mount)
    const signals: (AbortSignal | undefined)[] = []
    knowledge.ingestFile = async (_file, options) => {
      signals.push(options?.signal)
      await new Promise((resolve) => setImmediate(resolve))
      return { documentId: 'a', alreadyExisted: false, isUnchanged: false }
    }
    const form = new FormData()
    form.set('file', new File(['text '.repeat(30_000)], 'a.txt'))
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await call('/service-api/ingestion/file', { key: 'key-importer', method: 'POST', body: form })
      expect([response.status, await response.json()]).toMatchObject([200, { document_id: 'a' }])
    }
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, false])
  })

  test('a batch is answered while it is being sent', async () => {
    const { host } = await mounted(mount)
    const request = nodeRequest(`${host.base}/service-api/ingestion/batch`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-importer' },
    })
    const answers: string[] = []
    const ended = new Promise<void>((resolve) =>
      request.on('response', (response) => {
        response.setEncoding('utf8').on('data', (text: string) => answers.push(...text.trim().split('\n')))
        response.on('end', resolve)
      }),
    )
    for (const id of ['a', 'b', 'c']) {
      const before = answers.length
      request.write(`${JSON.stringify(aDocument(id))}\n`)
      await expect.poll(() => answers.length).toBe(before + 1)
    }
    request.end()
    await ended
    expect(answers.map((text) => (JSON.parse(text) as { document_id: string }).document_id)).toEqual(['a', 'b', 'c'])
  })

  test('a body above the limit is refused, and the connection is good for more', async () => {
    const { call } = await mounted(mount, { limits: { maxChatBytes: 1000 } })
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await call('/chat/send-chat-message', { method: 'POST', body: 'x'.repeat(200_000) })
      expect([response.status, await response.json()]).toMatchObject([413, { error_code: 'PAYLOAD_TOO_LARGE' }])
    }
    expect((await call('/health')).status).toBe(200)
  })

  test("the host's own users are asked by what the host reads from the request", async () => {
    const { host } = await mounted(mount, {
      authenticate: (request) => {
        const user = /session=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1]
        return user === undefined ? undefined : { id: user, scopes: ['chat'] }
      },
    })
    const me = await fetch(`${host.base}/me`, { headers: { cookie: 'session=zoe' } })
    expect(await me.json()).toMatchObject({ id: toUserId('zoe') })
    expect((await fetch(`${host.base}/me`)).status).toBe(401)
  })
})

describe('behind body parsers', () => {
  const headers = { authorization: 'Bearer key-alice', 'content-type': 'application/json' }

  test('a parsed body is taken from the request', async () => {
    const { host, call } = await mounted(expressWithParserAhead)
    const body = '{"message":"Hi","stream":false}'
    const whole = await fetch(`${host.base}/chat/send-chat-message`, { method: 'POST', headers, body })
    expect(await whole.json()).toEqual(wholeAnswer)
    const packed = await fetch(`${host.base}/chat/send-chat-message`, {
      method: 'POST',
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: new Uint8Array(gzipSync(body)),
    })
    expect(await packed.json()).toEqual(wholeAnswer)
    expect((await call('/health')).status).toBe(200)
  })

  test("the user of the host's own sign-in is handed over", async () => {
    const { host } = await mounted(expressWithSignIn)
    const me = await fetch(`${host.base}/me`, { headers: { 'x-user': 'zoe' } })
    expect(await me.json()).toMatchObject({ id: toUserId('zoe') })
    const body = '{"message":"Hi","stream":false}'
    const whole = await fetch(`${host.base}/chat/send-chat-message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user': 'zoe' },
      body,
    })
    expect(await whole.json()).toEqual(wholeAnswer)
    expect((await fetch(`${host.base}/me`)).status).toBe(401)
  })

  test('a client whose JSON the host took for a form is told which header to send', async () => {
    const { host, errors } = await mounted(expressWithParserAhead)
    const response = await fetch(`${host.base}/chat/send-chat-message`, {
      method: 'POST',
      // The content type of `curl -d`.
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: '{"message":"Hi","stream":false}',
    })
    expect([response.status, await response.json()]).toMatchObject([
      415,
      { error_code: 'UNSUPPORTED_MEDIA_TYPE', detail: expect.stringContaining('Content-Type: application/json') },
    ])
    expect(errors).toEqual([])
    expect((await fetch(`${host.base}/health`)).status).toBe(200)
  })

  test('the fault of the mount is named where a body is lost', async () => {
    const { host, errors } = await mounted(expressWithFormParserAhead)
    const form = new FormData()
    form.set('file', new File(['text'], 'a.txt'))
    const response = await fetch(`${host.base}/service-api/ingestion/file`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-importer' },
      body: form,
    })
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { error_code: 'INTERNAL_ERROR', detail: expect.stringMatching(/body parsers such as express\.json/) },
    ])
    expect(errors).toHaveLength(1)
    expect((await fetch(`${host.base}/health`)).status).toBe(200)
  })

  test('an assistant is mounted as well as its fetch, and anything else is refused when it is mounted', async () => {
    const { host } = await mounted((fetch) => nodeListener({ fetch }))
    expect((await fetch(`${host.base}/health`)).status).toBe(200)
    for (const wrong of [undefined, {}, 'inlay'])
      for (const mount of [nodeListener, fastifyPlugin, koaMiddleware, routeHandlers] as ((
        given: unknown,
      ) => unknown)[])
        expect(() => mount(wrong)).toThrow(/requires an assistant created by createInlay\(\), or its fetch/)
  })
})
