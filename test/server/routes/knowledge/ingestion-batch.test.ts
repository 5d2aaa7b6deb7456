import { describe, expect, test } from 'vitest'
import { InlayError } from '@inlay/protocol'
import { aDocument, setup } from '../../fakes.ts'

const key = 'key-importer'
const batch = '/service-api/ingestion/batch'
const line = (id: string): string => JSON.stringify(aDocument(id))
const encoded = (text: string): Uint8Array => new TextEncoder().encode(text)

async function answers(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text()
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((item) => JSON.parse(item) as Record<string, unknown>)
}

/** A body a test writes into while the response is read. */
function openBody(): {
  body: ReadableStream<Uint8Array>
  write(text: string): void
  end(): void
  fail(): void
  wanted(): number
} {
  let sink!: ReadableStreamDefaultController<Uint8Array>
  let pulls = 0
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (sink = controller),
      pull: () => void pulls++,
    },
    { highWaterMark: 0 },
  )
  return {
    body,
    write: (text) => sink.enqueue(encoded(text)),
    end: () => sink.close(),
    fail: () => sink.error(new DOMException('gone', 'AbortError')),
    wanted: () => pulls,
  }
}

test('each line is answered in its place, faulty ones with the status of the single call', async () => {
  const { ask, knowledge, errors } = setup()
  knowledge.before = (id) => {
    if (id === 'broken') throw new Error('disk is gone')
    if (id === 'full') throw new InlayError('RATE_LIMITED')
  }
  const body = [line('a'), '', '{"document":', line('a'), '{}', line('broken'), line('full'), '   ', line('z')].join(
    '\n',
  )
  const response = await ask(batch, { key, body, headers: { 'x-request-id': 'r1' } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  expect(await answers(response)).toEqual([
    { line: 1, status: 200, document_id: 'a', already_existed: false },
    { line: 3, status: 422, detail: [expect.objectContaining({ loc: ['body'], type: 'json_invalid' })] },
    { line: 4, status: 200, document_id: 'a', already_existed: true },
    { line: 5, status: 422, detail: [expect.objectContaining({ loc: ['body', 'document'], type: 'missing' })] },
    {
      line: 6,
      status: 500,
      error_code: 'INTERNAL_ERROR',
      detail: expect.not.stringContaining('disk'),
      request_id: 'r1',
    },
    {
      line: 7,
      status: 429,
      error_code: 'RATE_LIMITED',
      detail: expect.any(String),
      scope: 'global',
      reset_at: expect.any(String),
      retry_after_seconds: expect.any(Number),
    },
    { line: 9, status: 200, document_id: 'z', already_existed: false },
  ])
  expect(errors).toHaveLength(1)
})

test('a call without a body is refused', async () => {
  for (const more of [{}, { body: '', headers: { 'content-length': '0' } }]) {
    const response = await setup().ask(batch, { key, method: 'POST', ...more })
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { detail: [{ loc: ['body'], type: 'missing' }] },
    ])
  }
})

test.each(['', '\n\n', `${line('a')}\r\n`, line('a')])('the body %j is well formed', async (body) => {
  const response = await setup().ask(batch, { key, method: 'POST', body })
  expect(await answers(response)).toEqual(body.includes('{') ? [expect.objectContaining({ line: 1, status: 200 })] : [])
})

test('a line above the limit is told and skipped; those around it are taken', async () => {
  const { ask, knowledge } = setup({ limits: { maxIngestionBytes: 200 } })
  const long = JSON.stringify(aDocument('long', 'x'.repeat(1000)))
  const body = new Blob([`${line('a')}\n${long}\n${line('b')}\n`]).stream()
  expect((await answers(await ask(batch, { key, method: 'POST', body }))).map(({ status }) => status)).toEqual([
    200, 413, 200,
  ])
  expect([...knowledge.accepted.keys()]).toEqual(['a', 'b'])
})

test('bytes split anywhere make the same lines', async () => {
  const bytes = encoded(`${line('ä')}\n${line('日本')}\n`)
  const { ask } = setup()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.subarray(at, at + 3))
      controller.close()
    },
  })
  expect(
    (await answers(await ask(batch, { key, method: 'POST', body }))).map(({ document_id }) => document_id),
  ).toEqual(['ä', '日本'])
})

describe('while the body is still being sent', () => {
  test('answers come, in the order of the lines', async () => {
    const { ask, knowledge } = setup()
    const slow = Promise.withResolvers<void>()
    knowledge.before = (id) => (id === 'a' ? slow.promise : undefined)
    const open = openBody()
    const response = await ask(batch, { key, method: 'POST', body: open.body })
    const reader = response.body!.getReader()
    open.write(`${line('a')}\n${line('b')}\n`)
    const first = reader.read()
    await expect.poll(() => knowledge.accepted.size).toBe(2)
    slow.resolve()
    const text = new TextDecoder().decode((await first).value)
    expect(text.match(/"document_id":"\w"/g)).toEqual(['"document_id":"a"', '"document_id":"b"'])
    open.write(`${line('c')}\n`)
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"c"')
    open.end()
    expect((await reader.read()).done).toBe(true)
  })

  test('no more is taken in than is worked on', async () => {
    const { ask, knowledge } = setup()
    const gate = Promise.withResolvers<void>()
    knowledge.before = () => gate.promise
    const open = openBody()
    const response = await ask(batch, { key, method: 'POST', body: open.body })
    const read = response.text()
    for (let n = 0; n < 1000; n++) open.write(`${line(`d${n}`)}\n`)
    open.end()
    await expect.poll(() => knowledge.accepted.size).toBe(64)
    gate.resolve()
    expect((await read).trimEnd().split('\n')).toHaveLength(1000)
    expect(knowledge.accepted.size).toBe(1000)
  })

  test('a sender that goes away leaves what was accepted', async () => {
    const { ask, knowledge, errors } = setup()
    const open = openBody()
    const response = await ask(batch, { key, method: 'POST', body: open.body })
    const read = answers(response)
    open.write(`${line('a')}\n${line('half').slice(0, 20)}`)
    await expect.poll(() => knowledge.accepted.size).toBe(1)
    open.fail()
    expect(await read).toEqual([expect.objectContaining({ document_id: 'a' })])
    expect(errors).toEqual([])
  })

  test('a reader that goes away ends the intake', async () => {
    const { ask, knowledge } = setup()
    const open = openBody()
    const response = await ask(batch, { key, method: 'POST', body: open.body })
    open.write(`${line('a')}\n`)
    await expect.poll(() => knowledge.accepted.size).toBe(1)
    await response.body!.cancel()
    expect(() => open.write('x')).toThrow()
  })
})
