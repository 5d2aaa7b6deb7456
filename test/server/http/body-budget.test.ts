import { expect, test } from 'vitest'
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
