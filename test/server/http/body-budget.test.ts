import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { aDocument, setup } from '../fakes.ts'

const large = aDocument('large', 'x'.repeat(200_000))

test('callers whose bodies are more than can be held are told when to come again', async () => {
  const gate = Promise.withResolvers<void>()
  const { ask, knowledge } = setup({ bodyBytesInFlight: 600_000 })
  const accept = knowledge.accept
  knowledge.accept = async (...call) => {
    await gate.promise
    return accept(...call)
  }
  const post = (): ReturnType<typeof ask> => ask('/service-api/ingestion', { json: large, key: 'key-importer' })
  const first = post()
  await new Promise((resolve) => setImmediate(resolve))
  const second = await post()
  expect(second.status).toBe(429)
  expect(second.headers.get('retry-after')).toBe('1')
  expect(await second.json()).toMatchObject({ error_code: 'RATE_LIMITED' })
  // Small ones are never held up.
  const health = await ask('/health')
  expect(health.status).toBe(200)
  gate.resolve()
  expect((await first).status).toBe(200)
  expect((await post()).status).toBe(200)
})

test('one caller holds half of what can be held, and others the rest', async () => {
  const { ask, knowledge } = setup({ bodyBytesInFlight: 1_000_000 })
  let hold = Promise.withResolvers<'held'>()
  knowledge.accept = () => {
    hold.resolve('held')
    return new Promise(() => {})
  }
  const document = aDocument('held', 'x'.repeat(300_000))
  const status = (key: string): Promise<number | 'held'> => {
    hold = Promise.withResolvers()
    return Promise.race([
      ask('/service-api/ingestion', { json: document, key }).then(({ status }) => status),
      hold.promise,
    ])
  }
  // Two of them are 600,000 bytes: all callers may hold as much, but not one.
  expect(await status('key-importer')).toBe('held')
  expect(await status('key-importer')).toBe(429)
  expect(await status('key-operator')).toBe('held')
}, 20_000)

test('a body that arrives slowly is counted until it has been read', async () => {
  let later = (): void => {}
  const timer = (_delayMs: number, callback: () => void): (() => void) => {
    later = callback
    return () => {}
  }
  const { ask } = setup({ bodyBytesInFlight: 600_000, timer })
  const bytes = new TextEncoder().encode(JSON.stringify(large))
  const whole = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 10))
      await whole.promise
      controller.enqueue(bytes.subarray(10))
      controller.close()
    },
  })
  const post = { method: 'POST', key: 'key-importer' }
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }
  const slow = ask('/service-api/ingestion', { ...post, headers, body })
  await new Promise((resolve) => setImmediate(resolve))
  later()
  expect((await ask('/service-api/ingestion', { ...post, json: large })).status).toBe(429)
  whole.resolve()
  expect((await slow).status).toBe(200)
  expect((await ask('/service-api/ingestion', { ...post, json: large })).status).toBe(200)
})

describe('while one body is being worked on, of another that does not say its length', () => {
  /** Never ends; counts how much of it was read. */
  function endless(piece: Uint8Array): { body: ReadableStream<Uint8Array>; bytes: () => number } {
    let bytes = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        bytes += piece.byteLength
        controller.enqueue(piece)
      },
    })
    return { body, bytes: () => bytes }
  }

  async function whileOneIsHeld(): Promise<ReturnType<typeof setup>> {
    const fakes = setup({ bodyBytesInFlight: 600_000 })
    fakes.knowledge.accept = () => new Promise(() => {})
    void fakes.ask('/service-api/ingestion', { json: large, key: 'key-importer' })
    await new Promise((resolve) => setImmediate(resolve))
    return fakes
  }

  const post = { method: 'POST', key: 'key-importer' }

  test('no more is read than there is room for', async () => {
    const { ask } = await whileOneIsHeld()
    const { body, bytes } = endless(new Uint8Array(20_000).fill(97))
    const { status } = await ask('/service-api/ingestion', { ...post, body })
    expect(status).toBe(429)
    expect(bytes()).toBeLessThan(400_000)
  })

  test('what it is unpacked to counts', async () => {
    const { ask } = await whileOneIsHeld()
    const packed = gzipSync(JSON.stringify(aDocument('small', 'x'.repeat(900_000))))
    expect(packed.byteLength).toBeLessThan(10_000)
    const headers = { 'content-encoding': 'gzip' }
    expect((await ask('/service-api/ingestion', { ...post, headers, body: packed })).status).toBe(429)
  })

  test('a file is counted while it is read', async () => {
    const { ask } = await whileOneIsHeld()
    const form = new FormData()
    form.set('file', new File(['x'.repeat(900_000)], 'large.txt'))
    const response = new Response(form)
    const headers = { 'content-type': response.headers.get('content-type')! }
    const body = await response.arrayBuffer()
    expect((await ask('/service-api/ingestion/file', { ...post, headers, body })).status).toBe(429)
  })

  test('a line of a batch is counted while it is read, and the others are taken', async () => {
    const { ask, knowledge } = await whileOneIsHeld()
    knowledge.accept = async () => ({ documentId: 'taken', alreadyExisted: false, isUnchanged: false })
    const [small, long] = [
      JSON.stringify(aDocument('small', 'x')),
      JSON.stringify(aDocument('long', 'x'.repeat(900_000))),
    ]
    const body = [small, long, small].join('\n')
    const answer = await ask('/service-api/ingestion/batch', { ...post, body })
    const lines = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: number })
    expect(lines.map(({ status }) => status)).toEqual([200, 429, 200])
  })
})
