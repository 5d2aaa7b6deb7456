import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { aDocument, setup } from '../fakes.ts'

const text = '漢😀"\\\nsome words '.repeat(150_000)
const bytes = new TextEncoder().encode(JSON.stringify(aDocument('large', text)))
const key = 'key-importer'
const post = { method: 'POST', key }

function streamOf(whole: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= whole.byteLength) return controller.close()
      controller.enqueue(whole.subarray(at, at + size))
      at += size
    },
  })
}

describe('a large document', () => {
  const length = { 'content-length': String(bytes.byteLength) }
  test.each([
    ['that says its length', length, bytes],
    ['that comes in small pieces', length, streamOf(bytes, 1000)],
    ['that does not say its length', {}, streamOf(bytes, 65_536)],
    ['that is compressed', { 'content-encoding': 'gzip' }, Uint8Array.from(gzipSync(bytes))],
  ])('%s is accepted as it was sent', async (_, headers, body) => {
    const { ask, knowledge } = setup()
    const { accept } = knowledge
    let isSame = false
    knowledge.accept = (input, options) => {
      isSame = input.document.sections[0]?.text === text
      return accept(input, options)
    }
    const response = await ask('/service-api/ingestion', { ...post, headers, body })
    expect([response.status, await response.json()]).toEqual([200, { document_id: 'large', already_existed: false }])
    expect(isSame).toBe(true)
  })

  test('in a batch is accepted in its place', async () => {
    const { ask, knowledge } = setup()
    const [first, last] = [JSON.stringify(aDocument('first')), JSON.stringify(aDocument('last'))]
    const blank = ' '.repeat(1_200_000)
    const broken = `{"document": "${'x'.repeat(1_200_000)}`
    const body = [first, new TextDecoder().decode(bytes), blank, broken, last].join('\n')
    const response = await ask('/service-api/ingestion/batch', { ...post, body })
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { line: 1, status: 200, document_id: 'first' },
      { line: 2, status: 200, document_id: 'large' },
      { line: 4, status: 422, detail: [{ loc: ['body'], type: 'json_invalid' }] },
      { line: 5, status: 200, document_id: 'last' },
    ])
    expect([...knowledge.accepted.keys()]).toEqual(['first', 'large', 'last'])
  })

  test.each([
    ['is no JSON', bytes.subarray(0, -3), 'json_invalid'],
    [
      'is not UTF-8',
      Uint8Array.from([...bytes.subarray(0, 1_500_000), 0xff, ...bytes.subarray(1_500_000)]),
      'json_invalid',
    ],
    [
      'lacks what it needs',
      new TextEncoder().encode(JSON.stringify({ document: { sections: [{ text }], metadata: {} } })),
      'missing',
    ],
  ])('that %s is refused', async (_, body, type) => {
    const { ask, knowledge } = setup()
    const headers = { 'content-length': String(body.byteLength) }
    const response = await ask('/service-api/ingestion', { ...post, headers, body })
    expect([response.status, await response.json()]).toMatchObject([422, { detail: [{ type }] }])
    expect(knowledge.accepted.size).toBe(0)
  })

  test('above the limit is refused, though it does not say its length', async () => {
    const { ask, knowledge } = setup({ limits: { maxIngestionBytes: 2_000_000 } })
    const response = await ask('/service-api/ingestion', { ...post, body: streamOf(bytes, 65_536) })
    expect(response.status).toBe(413)
    expect(knowledge.accepted.size).toBe(0)
  })

  test('whose client leaves half way is not accepted', async () => {
    const { ask, knowledge, errors } = setup()
    const half = streamOf(bytes.subarray(0, 1_500_000), 100_000)
    const reader = half.getReader()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.error(new DOMException('gone', 'AbortError'))
        else controller.enqueue(value)
      },
    })
    expect((await ask('/service-api/ingestion', { ...post, body })).status).toBe(400)
    expect([knowledge.accepted.size, errors]).toEqual([0, []])
  })

  test('lets other requests be answered while it is read', async () => {
    const { ask } = setup()
    const large = new TextEncoder().encode(JSON.stringify(aDocument('large', '\\'.repeat(6_000_000))))
    const headers = { 'content-length': String(large.byteLength) }
    const ended = ask('/service-api/ingestion', { ...post, headers, body: large }).then(({ status }) => status)
    let isOver = false
    void ended.then(() => (isOver = true))
    let answered = 0
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      if ((await ask('/health')).ok) answered++
    }
    expect(await ended).toBe(200)
    expect(answered).toBeGreaterThan(5)
  })
})
