import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import { aiSdkEmbedder, type AiSdkEmbedderOptions } from '@inlay/drivers/ai-sdk-embedder'
import type { Embedder } from '@inlay/knowledge'
import { embedderConformance } from '@inlay/conformance'
import { describe, expect, it, test } from 'vitest'
import type { EmbeddingsReply, Mishap } from '../../stand-in/embeddings.ts'
import { apiKey, failureTests, useEmbeddings } from './failing-server.ts'

const embeddings = useEmbeddings()
const { failing } = embeddings

const modelAt = (baseURL: string, key = apiKey): EmbeddingModelV4 =>
  createOpenAICompatible({ name: 'local', baseURL, apiKey: key }).embeddingModel('stand-in')

/** The same model, taking fewer texts. */
function taking(
  most: EmbeddingModelV4['maxEmbeddingsPerCall'],
  model = modelAt(embeddings.server.baseUrl),
): EmbeddingModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportsParallelCalls: true,
    maxEmbeddingsPerCall: most,
    doEmbed: (call) => model.doEmbed(call),
  }
}

function embedder(options: Partial<AiSdkEmbedderOptions> = {}): Embedder {
  return aiSdkEmbedder({
    model: modelAt(embeddings.server.baseUrl),
    dimensions: embeddings.server.dimensions,
    sleep: async (delayMs) => void embeddings.delays.push(delayMs),
    ...options,
  })
}

describe('conformance of an embedder', () => {
  for (const [title, run] of embedderConformance(() => embedder())) test(title, run)
  for (const [title, run] of embedderConformance(() => embedder({ model: taking(2) })))
    test(`${title} (two a request)`, run)
})

failureTests(embeddings, embedder, [
  [400, 'UNPROCESSABLE_ENTITY'],
  [401, 'AUTH_ERROR'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [413, 'REQUEST_TOO_LARGE'],
])

describe('a request', () => {
  it('carries as many texts as the model takes, whichever way it says so, and as a batch allows', async () => {
    const texts = ['a', 'b', 'c', 'd', 'e']
    await embedder({ model: taking(2) }).embed(texts, 'document')
    await embedder({ model: taking(Promise.resolve(3)) }).embed(texts, 'document')
    await embedder({ model: taking(undefined), maxBatchSize: 4 }).embed(texts, 'document')
    await embedder({ model: taking(100), maxBatchCharacters: 2 }).embed(texts, 'document')
    expect(embeddings.server.seen.map(({ body }) => body.input.length)).toEqual([2, 2, 1, 3, 2, 4, 1, 2, 2, 1])
    expect(embeddings.server.seen[0]).toMatchObject({ authorization: `Bearer ${apiKey}`, body: { model: 'stand-in' } })
  })

  it('tells documents from queries by prefixes or options, and never sends an empty text', async () => {
    const seen: unknown[] = []
    const model = taking(9)
    const spied: EmbeddingModelV4 = {
      ...model,
      doEmbed: (call) => {
        seen.push([call.values, call.providerOptions, call.dimensions, call.headers])
        return model.doEmbed({ ...call, dimensions: undefined })
      },
    }
    const providerOptions = { query: { google: { taskType: 'RETRIEVAL_QUERY' } } }
    const prefixed = embedder({ model: spied, prefixes: { document: 'passage: ', query: 'query: ' }, providerOptions })
    await prefixed.embed(['x'], 'document')
    await prefixed.embed(['x'], 'query')
    await embedder({ model: spied, asksForDimensions: true, headers: { 'x-team': 'a' } }).embed([''], 'document')
    expect(seen).toEqual([
      [['passage: x'], undefined, undefined, undefined],
      [['query: x'], providerOptions.query, undefined, undefined],
      [[' '], undefined, embeddings.server.dimensions, { 'x-team': 'a' }],
    ])
  })

  it('belongs to the space of provider, model and dimensions, or to the one named', () => {
    expect(embedder().id).toBe('local.embedding/stand-in@64')
    expect(embedder({ space: 'ours', dimensions: 8 }).id).toBe('ours@8')
  })
})

describe('a failure that may pass', () => {
  it('is tried again: rate limits, server errors, cut connections', async () => {
    failing({ status: 429 }, { status: 500 }, { cut: 'at once' })
    expect(await embedder().embed(['a'], 'query')).toHaveLength(1)
    expect(embeddings.server.seen).toHaveLength(4)
    expect(embeddings.delays[1]! > embeddings.delays[0]! && embeddings.delays[2]! > embeddings.delays[1]!).toBe(true)
  })

  it('is waited out as the service asks, and ends the call when that is too long', async () => {
    failing({ status: 429, headers: { 'retry-after': '7' } }, { status: 429, headers: { 'retry-after': '3600' } })
    await expect(embedder().embed(['a'], 'query')).rejects.toMatchObject({
      code: 'RATE_LIMIT',
      retryable: true,
      data: { retryAfterSeconds: 3600, status: 429 },
    })
    expect(embeddings.delays).toEqual([7000])
  })
})

describe('a failure that will not pass', () => {
  it('never shows the key, the texts or the reply', async () => {
    const model = modelAt(embeddings.server.baseUrl, 'sk-wrong-key')
    const error = await embedder({ model })
      .embed(['private text'], 'document')
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'AUTH_ERROR' })
    const { message, data } = error as Error & { data: unknown }
    expect(`${message} ${JSON.stringify(data)}`).not.toMatch(/sk-|private|Incorrect/)
  })

  it('is a model that throws something of its own', async () => {
    const model: EmbeddingModelV4 = { ...taking(9), doEmbed: () => Promise.reject(new Error('secret detail')) }
    await expect(embedder({ model }).embed(['a'], 'query')).rejects.toMatchObject({
      code: 'API_ERROR',
      retryable: false,
      message: 'The embedding service failed.',
    })
  })
})

describe('a reply', () => {
  const changed = (change: (data: EmbeddingsReply['data']) => EmbeddingsReply['data']): Mishap => ({
    change: (reply) => ({ ...reply, data: change(reply.data) }),
  })

  it.each<[string, Mishap, string]>([
    ['too few vectors', changed((data) => data.slice(1)), 'BAD_GATEWAY'],
    ['too many vectors', changed((data) => [...data, data[0]!]), 'BAD_GATEWAY'],
    [
      'a vector of another length',
      changed((data) => data.map((item) => ({ ...item, embedding: [1, 2, 3] }))),
      'INDEX_MISMATCH',
    ],
    ['no JSON', { body: '<html>hello</html>' }, 'BAD_GATEWAY'],
    ['another shape', { body: '{"answer": 42}' }, 'BAD_GATEWAY'],
  ])('with %s is refused before it reaches an index', async (_, mishap, code) => {
    failing(mishap)
    await expect(embedder({ attempts: 1 }).embed(['a', 'b'], 'document')).rejects.toMatchObject({ code })
  })

  it('with values that are no numbers is refused', async () => {
    const model: EmbeddingModelV4 = {
      ...taking(9),
      doEmbed: async ({ values }) => ({ embeddings: values.map(() => Array(64).fill(Number.NaN)), warnings: [] }),
    }
    await expect(embedder({ model }).embed(['a'], 'document')).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })
})

it.each([0, 1.5, 9000])('dimensions of %d are refused when it is made', (dimensions) => {
  expect(() => embedder({ dimensions })).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})
