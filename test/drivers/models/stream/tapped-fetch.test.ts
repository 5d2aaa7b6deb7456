import { describe, expect, test } from 'vitest'
import { plainFetch, tappedFetch } from '@inlay/drivers/internal/models/stream/tapped-fetch'
import { fetchTransport, type BodySink, type Transport } from '@inlay/drivers/internal/models/stream/transport'

const chunk = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A transport whose answers are pushed by the test. */
function pushed(status = 200, headers: Record<string, string> = {}) {
  const seen: string[] = []
  let sink: BodySink | undefined
  const transport: Transport = async () => ({
    status,
    statusText: '',
    headers: new Headers(headers),
    read: (given) => {
      sink = given
      return {
        pause: () => void seen.push('pause'),
        resume: () => void seen.push('resume'),
        cancel: () => void seen.push('cancel'),
      }
    },
  })
  return { transport, seen, push: (text: string) => sink?.push(bytesOf(text)), end: () => sink?.end() }
}

const listening = (onText: (delta: string) => void) => ({
  listener: { onText, onReasoning: () => {} },
  reasoningFields: [],
})

describe('a tapped fetch', () => {
  test('tells before anything is read, and hands on merged chunks', async () => {
    const { transport, push, end } = pushed()
    const deltas: string[] = []
    const tapped = tappedFetch(
      transport,
      listening((delta) => void deltas.push(delta)),
    )
    const response = await tapped.fetch('http://model/x', { method: 'POST', body: '{}' })
    push(chunk('a') + chunk('b').slice(0, 20))
    expect(deltas).toEqual(['a'])
    push(chunk('b').slice(20))
    end()
    expect(deltas).toEqual(['a', 'b'])
    expect(tapped.ahead.text).toBe(2)
    expect(await response.text()).toBe(chunk('ab'))
  })

  test('tells at once what comes as events, also where it is called JSON', async () => {
    const { transport, push, end } = pushed(200, { 'content-type': 'application/json' })
    const deltas: string[] = []
    const tapped = tappedFetch(
      transport,
      listening((delta) => void deltas.push(delta)),
    )
    const response = await tapped.fetch('http://model/x')
    push('\n')
    push(chunk('a'))
    expect(deltas).toEqual(['a'])
    end()
    expect(await response.text()).toBe(chunk('a'))
  })

  test('lets refusals pass as they are', async () => {
    const { transport, push, end } = pushed(429)
    const tapped = tappedFetch(transport, listening(expect.unreachable))
    const response = await tapped.fetch('http://model/x')
    push(chunk('a'))
    end()
    expect([response.status, await response.text()]).toEqual([429, chunk('a')])
  })

  test('gives what its listener throws to the reader and ends the request', async () => {
    const { transport, push, seen } = pushed()
    const tapped = tappedFetch(
      transport,
      listening(() => {
        throw new Error('no room')
      }),
    )
    const response = await tapped.fetch('http://model/x')
    push(chunk('a'))
    await expect(response.text()).rejects.toThrow('no room')
    expect(seen).toContain('cancel')
  })
})

describe('a plain fetch', () => {
  test('lets the sender wait for a slow reader, and goes on when it reads', async () => {
    const { transport, push, seen } = pushed()
    const response = await plainFetch(transport)('http://model/x')
    push('x'.repeat(70_000))
    expect(seen.at(-1)).toBe('pause')
    await response.body?.getReader().read()
    expect(seen.at(-1)).toBe('resume')
  })

  test('ends the request when its reader leaves', async () => {
    const { transport, seen } = pushed()
    await (await plainFetch(transport)('http://model/x')).body?.cancel()
    expect(seen.at(-1)).toBe('cancel')
  })
})

describe('a transport over fetch', () => {
  const streamOf = (...texts: string[]): ReadableStream<Uint8Array> =>
    new Response(texts.join('')).body ?? expect.unreachable()
  const over = (body: ReadableStream<Uint8Array> | null) =>
    plainFetch(fetchTransport(async () => new Response(body, { headers: { 'x-a': '1' } })))('http://model/x')

  test('carries the body whole, or none', async () => {
    const response = await over(streamOf('one', 'two'))
    expect([response.headers.get('x-a'), await response.text()]).toEqual(['1', 'onetwo'])
    expect(await (await over(null)).text()).toBe('')
  })

  test('ends a body that falls silent', async () => {
    let isCancelled = false
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel: () => void (isCancelled = true),
    })
    const response = await plainFetch(
      fetchTransport(async () => new Response(silent), { firstTokenTimeoutMs: 5, idleTimeoutMs: 5 }),
    )('http://model/x')
    await expect(response.text()).rejects.toMatchObject({ cause: { code: 'ETIMEDOUT' } })
    expect(isCancelled).toBe(true)
  })

  test('reads no further than its reader', async () => {
    let requests = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => (requests++, controller.enqueue(new Uint8Array(30_000))),
    })
    const response = await over(endless)
    for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next))
    expect(requests).toBeLessThan(8)
    await response.body?.cancel()
  })

  test('hands on what breaks the body', async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('cut')) })
    await expect((await over(broken)).text()).rejects.toThrow('cut')
  })
})
