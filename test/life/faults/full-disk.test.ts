import { createInlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { fakeEmbedder } from '../../knowledge/fake-embedder.ts'
import { testFolder } from '../harness.ts'
import { breakRecords } from './broken.ts'

const apiKey = 'inlay_key-of-the-full-disk'

function open(options: Parameters<typeof createInlay>[0] = {}) {
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const inlay = createInlay({ dataFolder: testFolder(), apiKey, onError, ...options })
  onTestFinished(() => inlay.close())
  const call = async (path: string, body?: object, more: Readonly<Record<string, string>> = {}) => {
    const headers = { authorization: `Bearer ${apiKey}`, ...more }
    const request = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, request))
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, retryAfter, body: (await response.json()) as Record<string, unknown> }
  }
  const ingest = (id: string, more?: Readonly<Record<string, string>>) =>
    call(
      '/service-api/ingestion',
      { document: { id, semantic_identifier: id, metadata: {}, sections: [{ text: `heron ${id}` }] } },
      more,
    )
  return { inlay, errors, call, ingest }
}

test('on a full disk searches go on, documents are refused with the time to wait, and readiness says it', async () => {
  const { call, ingest } = open()
  expect((await ingest('a', { prefer: 'wait=30' })).status).toBe(200)
  expect((await call('/health/ready')).body).toMatchObject({ message: 'ok' })
  const broken = breakRecords('full', /^(insert|update|delete)/i)
  broken.break()
  expect(await ingest('b')).toMatchObject({ status: 503, retryAfter: '2', body: { error_code: 'SERVICE_UNAVAILABLE' } })
  const began = performance.now()
  expect((await call('/search', { query: 'heron' })).body).toMatchObject({ results: [{ title: 'a' }] })
  expect(performance.now() - began).toBeLessThan(2_000)
  expect(await call('/health/ready')).toMatchObject({
    status: 200,
    body: { message: 'ok; a disk is full' },
  })
  expect((await call('/service-api/notices')).body).toMatchObject({
    details: [{ code: 'disk_full', message: 'The disk of the database is full: free some space.' }],
  })
  broken.mend()
  expect((await ingest('b', { prefer: 'wait=30' })).status).toBe(200)
})

test('a process that ends answers those who wait for a document to be indexed: it is stored', async () => {
  const gate = Promise.withResolvers<void>()
  const fake = fakeEmbedder({ answer: () => gate.promise })
  const { inlay, errors, ingest } = open({ embedder: fake, worker: { lingerMs: 0 } })
  onTestFinished(() => gate.resolve())
  const waiting = ingest('a', { prefer: 'wait=60' })
  await expect.poll(() => inlay.knowledge.waiting()).toBe(1)
  const closed = inlay.close()
  expect(await waiting).toMatchObject({ status: 200, body: { document_id: 'a' } })
  gate.resolve()
  await closed
  expect(errors).toEqual([])
})
