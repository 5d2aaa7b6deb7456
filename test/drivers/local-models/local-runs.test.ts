import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  localEmbedder,
  type FeatureTensor,
  type LocalEmbedderOptions,
  type TransformersLib,
} from '@inlay/drivers/local-models'
import type { Embedder } from '@inlay/knowledge'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'

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

const folder = mkdtempSync(join(tmpdir(), 'inlay-models-'))
for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'onnx/model_quantized.onnx'])
  for (const model of ['acme/tiny', 'acme/e5-tiny']) {
    mkdirSync(dirname(join(folder, model, file)), { recursive: true })
    writeFileSync(join(folder, model, file), '{}')
  }
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function embedder(options: Partial<LocalEmbedderOptions> = {}): Embedder {
  return localEmbedder({ model: 'acme/tiny', folder, dimensions, lib: fakeLib(), ...options })
}

describe('the model', () => {
  it('is loaded with the first text, once, from its folder', async () => {
    const single = embedder()
    expect(seen.loads).toEqual([])
    await Promise.all([single.embed(['a'], 'document'), single.embed(['b'], 'query')])
    expect(seen.loads).toEqual([
      { model: join(folder, 'acme', 'tiny'), options: { dtype: 'q8', local_files_only: true } },
    ])
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

  it('pools as it was trained, normalises, and is told what a text is by the prefixes known for it', async () => {
    await embedder({ model: 'acme/e5-tiny', pooling: 'cls' }).embed(['x', ''], 'document')
    await embedder({ model: 'acme/e5-tiny' }).embed(['x'], 'query')
    await embedder().embed([''], 'document')
    expect(seen.runs).toEqual([
      { texts: ['passage: x'], pooling: 'cls', normalize: true },
      { texts: ['passage: '], pooling: 'cls', normalize: true },
      { texts: ['query: x'], pooling: 'mean', normalize: true },
      { texts: [' '], pooling: 'mean', normalize: true },
    ])
  })

  it('has a space of its own for other pooling or length', () => {
    const ids = [{}, { pooling: 'cls' }, { dimensions: 8 }] as const
    expect(ids.map((options) => embedder(options).id)).toEqual([
      'local/acme/tiny/q8/mean@16',
      'local/acme/tiny/q8/cls@16',
      'local/acme/tiny/q8/mean@8',
    ])
  })
})

describe('a run', () => {
  const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`)

  it('takes one text, whose vector others would change', async () => {
    await embedder().embed(texts, 'document')
    expect(new Set(seen.runs.map((run) => run.texts.length))).toEqual(new Set([1]))
  })

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
    ['no pooling', (tensor) => ({ ...tensor, dims: [1, 3, dimensions] }), 'BAD_GATEWAY'],
    ['too many rows', (tensor) => ({ ...tensor, dims: [2, dimensions] }), 'BAD_GATEWAY'],
    ['another length', (tensor) => ({ dims: [1, 4], data: Array.from(tensor.data).slice(0, 4) }), 'INDEX_MISMATCH'],
    ['no numbers', (tensor) => ({ ...tensor, data: Array.from(tensor.data, () => Number.NaN) }), 'BAD_GATEWAY'],
  ])('with %s is refused before it reaches an index', async (_, change, code) => {
    await expect(embedder({ lib: fakeLib(change) }).embed(['a'], 'document')).rejects.toMatchObject({ code })
  })
})

it('names the package a host installs, which the manifest has as an optional peer', () => {
  const manifest = JSON.parse(readFileSync('packages/drivers/package.json', 'utf8')) as Record<string, object>
  const source = readFileSync('packages/drivers/src/local-models/index.ts', 'utf8')
  const name = '@huggingface/transformers'
  expect(source).toContain(`import('${name}')`)
  expect(manifest['peerDependencies']).toHaveProperty([name])
  expect(manifest['peerDependenciesMeta']).toHaveProperty([name, 'optional'], true)
})

it.each([{ dimensions: 0 }, { model: '' }])('%j is refused when it is made', (options) => {
  expect(() => embedder(options)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})
