import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  localEmbedder,
  localReranker,
  type CrossEncoderLib,
  type DownloadProgress,
  type TransformersLib,
} from '@inlay/drivers/local-models'
import { embedderConformance, rerankerConformance } from '@inlay/conformance'
import { describe, expect, onTestFinished, test } from 'vitest'

const weights = Buffer.alloc(300_000, 'weights')
const contents: Readonly<Record<string, Buffer>> = {
  'config.json': Buffer.from('{}'),
  'tokenizer.json': Buffer.from('{"a":1}'),
  'tokenizer_config.json': Buffer.from('{"b":1}'),
  'onnx/model_quantized.onnx': weights,
}
const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface Hub {
  readonly endpoint: string
  readonly requests: string[]
  /** Sends other weights than it states. */
  isDamaged: boolean
}

/** Answers as the Hub does: its own answer states the checksum of weights and leads to a storage. */
async function startHub(): Promise<Hub> {
  const hub = { endpoint: '', requests: [] as string[], isDamaged: false }
  const server = createServer((request, response) => {
    hub.requests.push(`${request.method} ${request.url}`)
    const stored = /^\/storage\/(.+)$/.exec(request.url ?? '')?.[1]
    const file = /^\/acme\/tiny\/resolve\/main\/(.+)$/.exec(request.url ?? '')?.[1]
    if (stored !== undefined) response.end(hub.isDamaged ? Buffer.from('other') : contents[stored])
    else if (file?.startsWith('onnx/')) {
      const headers = { 'x-linked-etag': `"${sum(contents[file]!)}"`, 'x-linked-size': `${contents[file]!.length}` }
      response.writeHead(302, { ...headers, location: `/storage/${file}` }).end()
    } else if (file !== undefined && contents[file]) response.end(request.method === 'HEAD' ? '' : contents[file])
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  hub.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return hub
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-models-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const loads: string[] = []

/** The library's shape; a text's vector and score follow from its letters. */
const lib: TransformersLib & CrossEncoderLib = {
  pipeline: async (_task, model) => {
    loads.push(model)
    return async (texts) => ({
      dims: [texts.length, 8],
      data: Float32Array.from(
        texts.flatMap((text) => {
          const counts = Array.from(
            { length: 8 },
            (_, at) => [...text].filter((letter) => letter.charCodeAt(0) % 8 === at).length + 0.1,
          )
          const norm = Math.hypot(...counts)
          return counts.map((count) => count / norm)
        }),
      ),
    })
  },
  AutoTokenizer: {
    from_pretrained:
      async () =>
      (queries, { text_pair: texts }) =>
        queries.map((query, at) => [query, texts[at]!] as const),
  },
  AutoModelForSequenceClassification: {
    from_pretrained: async (model) => {
      loads.push(model)
      return async (inputs) => {
        const pairs = inputs as (readonly [string, string])[]
        const scores = pairs.map(([query, text]) => {
          const words = query.toLowerCase().match(/\p{L}+/gu) ?? []
          return words.filter((word) => text.toLowerCase().includes(word)).length - words.length / 2
        })
        return { logits: { dims: [pairs.length, 1], data: Float32Array.from(scores) } }
      }
    },
  },
}

describe('conformance', () => {
  const prepared = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-models-'))
    for (const [file, bytes] of Object.entries(contents)) {
      mkdirSync(join(folder, 'acme/tiny/onnx'), { recursive: true })
      writeFileSync(join(folder, 'acme/tiny', file), bytes)
    }
    return folder
  }
  const options = { model: 'acme/tiny', folder: prepared(), isOffline: true, lib }
  for (const [title, run] of embedderConformance(() => localEmbedder({ ...options, dimensions: 8 }))) test(title, run)
  for (const [title, run] of rerankerConformance((mood) => (mood === 'well' ? localReranker(options) : undefined)))
    test(title, run)
})

describe('a model from the Hub', () => {
  test('is downloaded at the first use with its progress, and not again', async () => {
    const hub = await startHub()
    const folder = makeFolder()
    const steps: DownloadProgress[] = []
    const options = { model: 'acme/tiny', dimensions: 8, folder, endpoint: hub.endpoint, lib }
    const first = localEmbedder({ ...options, onProgress: (step) => void steps.push(step) })
    expect(hub.requests).toEqual([])
    await Promise.all([first.embed(['a'], 'query'), first.embed(['b'], 'query')])
    expect(hub.requests.filter((request) => request === 'GET /storage/onnx/model_quantized.onnx')).toHaveLength(1)
    expect(steps.at(-1)).toEqual({
      model: 'acme/tiny',
      file: 'onnx/model_quantized.onnx',
      bytes: weights.length,
      totalBytes: weights.length,
    })
    expect(loads.at(-1)).toBe(join(folder, 'acme', 'tiny'))
    expect(JSON.parse(readFileSync(join(folder, 'acme/tiny/checksums.json'), 'utf8'))).toMatchObject({
      'onnx/model_quantized.onnx': sum(weights),
    })
    const count = hub.requests.length
    await localEmbedder({ ...options, isOffline: true }).embed(['a'], 'query')
    expect(hub.requests.length).toBe(count)
  })

  test('that was damaged on the way, or later, is refused', async () => {
    const hub = await startHub()
    const folder = makeFolder()
    const embedder = localEmbedder({ model: 'acme/tiny', dimensions: 8, folder, endpoint: hub.endpoint, lib })
    hub.isDamaged = true
    await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('differs from its checksum'),
    })
    hub.isDamaged = false
    await expect(embedder.embed(['a'], 'query')).resolves.toHaveLength(1)
    writeFileSync(join(folder, 'acme/tiny/onnx/model_quantized.onnx'), 'changed')
    const later = localEmbedder({ model: 'acme/tiny', dimensions: 8, folder, endpoint: hub.endpoint, lib })
    await expect(later.embed(['a'], 'query')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  test('that is missing offline, or unknown to the Hub, is refused with the reason', async () => {
    const hub = await startHub()
    const offline = localReranker({ model: 'acme/tiny', folder: makeFolder(), isOffline: true, lib })
    await expect(offline.rerank('a', ['b'])).rejects.toMatchObject({
      message: expect.stringContaining('is missing in the model folder'),
    })
    const unknown = localReranker({ model: 'acme/other', folder: makeFolder(), endpoint: hub.endpoint, lib })
    await expect(unknown.rerank('a', ['b'])).rejects.toMatchObject({ message: expect.stringContaining('answered 404') })
  })
})

test('known models bring their dimensions, and others are refused before anything is loaded', () => {
  const folder = makeFolder()
  const embedder = localEmbedder({ model: 'multilingual-e5-small', folder, lib })
  expect([embedder.dimensions, embedder.id, embedder.isLatinOnly]).toEqual([
    384,
    'local/Xenova/multilingual-e5-small/q8/mean+passage%3A@384',
    false,
  ])
  expect(() => localEmbedder({ model: 'acme/tiny', folder, lib })).toThrow(/dimensions is missing/)
  expect(() => localEmbedder({ model: 'e5', folder, lib })).toThrow(/no model "e5" is known/)
  expect(() => localReranker({ model: 'bge', folder, lib })).toThrow(/no model "bge" is known/)
})
