import {
  transformersEmbedder,
  type FeatureTensor,
  type TransformersEmbedderOptions,
  type TransformersLib,
} from '@inlay/drivers/transformers-embedder'
import { readFileSync } from 'node:fs'
import type { Embedder } from '@inlay/knowledge'
import { embedderConformance } from '@inlay/conformance'
import { beforeEach, describe, expect, it, test } from 'vitest'

const dimensions = 16

/** Calls of the library. */
const seen = {
  loads: [] as { model: string; options: Readonly<Record<string, unknown>> }[],
  runs: [] as { texts: string[]; pooling: string; normalize: boolean }[],
  disposed: 0,
  running: 0,
  mostRunning: 0,
}

beforeEach(() => {
  Object.assign(seen, { loads: [], runs: [], disposed: 0, running: 0, mostRunning: 0 })
})

/** The library's shape: a pipeline gives a function, and that a tensor of one row for each text, pooled when asked. */
function fakeLib(change: (tensor: FeatureTensor) => FeatureTensor = (tensor) => tensor): TransformersLib {
  return {
    pipeline: async (task, model, options) => {
      expect(task).toBe('feature-extraction')
      seen.loads.push({ model, options })
      return async (texts, { pooling, normalize }) => {
        seen.runs.push({ texts, pooling, normalize })
        seen.mostRunning = Math.max(seen.mostRunning, ++seen.running)
        await new Promise((resolve) => setImmediate(resolve))
        seen.running--
        const data = Float32Array.from(texts.flatMap((text) => vectorOf(text, normalize)))
        return change({ dims: [texts.length, dimensions], data, dispose: () => void seen.disposed++ })
      }
    },
  }
}

function vectorOf(text: string, normalize: boolean): number[] {
  const vector = Array.from({ length: dimensions }, () => 0.01)
  for (const [at, letter] of [...text].entries()) vector[(letter.codePointAt(0)! + at) % dimensions]! += 1
  const norm = normalize ? Math.hypot(...vector) : 1
  return vector.map((value) => value / norm)
}

function embedder(options: Partial<TransformersEmbedderOptions> = {}): Embedder {
  return transformersEmbedder({ model: 'Xenova/tiny', dimensions, lib: fakeLib(), ...options })
}

describe('conformance of an embedder', () => {
  for (const [title, run] of embedderConformance(() => embedder())) test(title, run)
  for (const [title, run] of embedderConformance(() => embedder({ dtype: 'q8' }))) test(`${title} (q8)`, run)
})

describe('the model', () => {
  it('is loaded with the first text, once, and as the options say', async () => {
    const single = embedder({
      dtype: 'fp16',
      device: 'cuda',
      revision: 'abc123',
      cacheFolder: '/models',
      isOffline: true,
    })
    expect(seen.loads).toEqual([])
    await Promise.all([single.embed(['a'], 'document'), single.embed(['b'], 'query')])
    expect(seen.loads).toEqual([
      {
        model: 'Xenova/tiny',
        options: { dtype: 'fp16', device: 'cuda', revision: 'abc123', cache_dir: '/models', local_files_only: true },
      },
    ])
    await embedder().embed(['a'], 'document')
    expect(seen.loads[1]!.options).toEqual({ dtype: 'fp32' })
  })

  it('is tried again with the next text when it could not be loaded, and says nothing of the machine', async () => {
    const lib = fakeLib()
    let isDown = true
    const single = embedder({
      lib: {
        pipeline: (...call) => (isDown ? Promise.reject(new Error('ENOENT /home/me/.cache')) : lib.pipeline(...call)),
      },
    })
    await expect(single.embed(['a'], 'document')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      message: expect.not.stringContaining('/home'),
    })
    isDown = false
    expect(await single.embed(['a'], 'document')).toHaveLength(1)
  })

  it('pools and normalises as it was trained, and is told what a text is by prefixes', async () => {
    const prefixes = { document: 'passage: ', query: 'query: ' }
    await embedder({ pooling: 'cls', normalize: false, prefixes }).embed(['x', ''], 'document')
    await embedder({ prefixes }).embed(['x'], 'query')
    await embedder().embed([''], 'document')
    expect(seen.runs).toEqual([
      { texts: ['passage: x', 'passage: '], pooling: 'cls', normalize: false },
      { texts: ['query: x'], pooling: 'mean', normalize: true },
      { texts: [' '], pooling: 'mean', normalize: true },
    ])
  })

  it('has a space of its own for other weights, pooling or length', () => {
    const ids = [{}, { dtype: 'q8' }, { pooling: 'cls' }, { normalize: false }, { dimensions: 8 }] as const
    expect(ids.map((options) => embedder(options).id)).toEqual([
      'Xenova/tiny/fp32/mean@16',
      'Xenova/tiny/q8/mean@16',
      'Xenova/tiny/fp32/cls@16',
      'Xenova/tiny/fp32/mean/raw@16',
      'Xenova/tiny/fp32/mean@8',
    ])
  })
})

describe('a run', () => {
  const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`)
  const sizes = async (options: Partial<TransformersEmbedderOptions>): Promise<number[]> => {
    await embedder(options).embed(texts, 'document')
    return seen.runs.map((run) => run.texts.length)
  }

  it('takes sixteen texts, or as many as asked for', async () => {
    expect(await sizes({})).toEqual([16, 16, 8])
    seen.runs = []
    expect(await sizes({ maxBatchSize: 30, dtype: 'q8' })).toEqual([30, 10])
  })

  it.each([{ dtype: 'q8' }, { dtype: 'int8' }, { pooling: 'last_token' }] as const)(
    'takes one text where company would change its vector: %j',
    async (options) => {
      expect(new Set(await sizes(options))).toEqual(new Set([1]))
    },
  )

  it('is the only one at a time, and calls take turns', async () => {
    const single = embedder()
    const long = single.embed(texts, 'document')
    const query = single.embed(['query'], 'query')
    await query
    expect(seen.runs.length).toBeLessThanOrEqual(3)
    await long
    expect(seen.mostRunning).toBe(1)
    expect(seen.disposed).toBe(seen.runs.length)
  })

  it('is the last when the caller goes', async () => {
    const controller = new AbortController()
    const lib = fakeLib((tensor) => {
      controller.abort(new Error('gone'))
      return tensor
    })
    await expect(embedder({ lib }).embed(texts, 'document', controller.signal)).rejects.toThrow('gone')
    expect(seen.runs).toHaveLength(1)
  })

  it.each<[string, (tensor: FeatureTensor) => FeatureTensor, string]>([
    ['no pooling', (tensor) => ({ ...tensor, dims: [2, 3, dimensions] }), 'BAD_GATEWAY'],
    ['too few rows', (tensor) => ({ ...tensor, dims: [1, dimensions] }), 'BAD_GATEWAY'],
    ['another length', (tensor) => ({ dims: [2, 4], data: Array.from(tensor.data).slice(0, 8) }), 'INDEX_MISMATCH'],
    ['no numbers', (tensor) => ({ ...tensor, data: Array.from(tensor.data, () => Number.NaN) }), 'BAD_GATEWAY'],
  ])('with %s is refused before it reaches an index', async (_, change, code) => {
    await expect(embedder({ lib: fakeLib(change) }).embed(['a', 'b'], 'document')).rejects.toMatchObject({ code })
  })
})

it('names the package a host installs, which the manifest has as an optional peer', () => {
  const manifest = JSON.parse(readFileSync('packages/drivers/package.json', 'utf8')) as Record<string, object>
  const source = readFileSync('packages/drivers/src/embedders/transformers-embedder.ts', 'utf8')
  const name = '@huggingface/transformers'
  expect(source).toContain(`import('${name}')`)
  expect(manifest['peerDependencies']).toHaveProperty([name])
  expect(manifest['peerDependenciesMeta']).toHaveProperty([name, 'optional'], true)
})

it.each([{ dimensions: 0 }, { model: '' }])('%j is refused when it is made', (options) => {
  expect(() => embedder(options)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})
